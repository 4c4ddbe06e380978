#!/bin/sh
# Bundles the program into dist/: CommonJS with bytecode beside it, which starts in half the time of loose modules, and
# a second, small bundle for the commands that run again and again (docs/decisions/0002 has the numbers). What the
# small one seldom needs stays outside of it and is loaded from src/ when it is.
set -eu
cd "$(dirname "$0")/.."
bun=$(sh scripts/bun.sh)
fresh=dist.new.$$
trap 'rm -rf "$fresh"' EXIT
bundle() {
  "$bun" build "$@" --target=bun --format=cjs --bytecode --minify-syntax --minify-whitespace --outdir="$fresh" >/dev/null
}
# The simulator is a package of its own: only `overseer sim` loads it. Nobody but the exporter and the
# server of tools loads what they speak with.
bundle src/main.ts --entry-naming=overseer.js --external "#sim/*" --external '#exporter.ts' --external '#mcp.ts'
seldom=
for module in cli/alone cli/synonyms cli/live/watch control/stuck-agents config/load sys/files sys/exec git/git terminals/choose terminals/tmux terminals/detached \
  terminals/socket-dir runtimes/list act/hooks/fenced daemon/main runner/remedy/remediate engine/lanes act/place store/seal store/sqlite/signal-log store/sqlite/health-log domain/reports/answer sys/virtual-clock sys/virtual-ids sys/self; do
  seldom="$seldom --external #$module.ts"
done
# shellcheck disable=SC2086 # a list of words on purpose
bundle src/fast.ts --entry-naming=fast.js $seldom
# Mail writes, so what is done before every write is on board.
# shellcheck disable=SC2086 # a list of words on purpose
bundle src/mail.ts --entry-naming=mail.js ${seldom%% --external #store/seal.ts*}${seldom##*--external #store/seal.ts}
bundle src/verb.ts --entry-naming=verb.js --external '#runner/verbs/unanswered.ts' --external '#cli/spoken-report.ts' \
  --external '#sys/self.ts' --external '#act/hooks/fenced.ts'
bundle src/runner.ts --entry-naming=runner.js
bundle src/daemon.ts --entry-naming=daemon.js
bundle src/daemon-guard.ts --entry-naming=daemon-guard.js
bundle src/exporter.ts --entry-naming=exporter.js
bundle src/mcp.ts --entry-naming=mcp.js
bundle src/scripted-agent.ts --entry-naming=scripted-agent.js
bundle src/hook.ts --entry-naming=hook.js --external '#act/hooks/inbox.ts' --external '#act/hooks/prime-again.ts' \
  --external '#act/hooks/spool.ts' --external '#act/hooks/fenced.ts' --external '#act/hooks/record-steering.ts' \
  --external '#sys/root.ts' --external '#store/sqlite/file.ts' --external '#runtimes/scripted/plain.ts'
bundle src/permit-hook.ts --entry-naming=permit.js --external '#act/hooks/fenced.ts' --external '#runtimes/scripted/plain.ts' \
  --external '#store/sqlite/file.ts' --external '#store/sqlite/signal-log.ts' --external '#store/sqlite/health-log.ts'
# Agents that an older version started call the permit by the name it had; without it they could write nothing.
for part in js js.jsc; do cp "$fresh/permit.$part" "$fresh/guard.$part"; done
# Swapped file by file: somebody may be starting the old one right now.
mkdir -p dist
for file in "$fresh"/*; do mv -f "$file" dist/; done
