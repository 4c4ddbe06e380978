#!/bin/sh
# Runs the checks and the tests. `fast`: rules, properties and contracts only, with a tenth of the rounds, beside the
# checks of types and style; `long`: everything, with more rounds (OVERSEER_TEST_SCALE) and with the older Claude Code too, which is installed when it is
# missing. Ends with what failed, the slowest files and one line that counts what ran.
set -eu
cd "$(dirname "$0")/.."
lane=${1:-all}
bun=$(sh scripts/bun.sh)
PATH=$PWD/node_modules/.bin:$PATH
export PATH
# Types and style are looked at while the program is bundled. What was found sound is not looked at again in the fast lane.
known=
[ "$lane" != fast ] || known="--incremental --tsBuildInfoFile node_modules/.cache/types.tsbuildinfo"
# shellcheck disable=SC2086 # words, not one name
tsc --noEmit $known &
types=$!
biome check . &
style=$!
sh scripts/bundle.sh
"$bun" scripts/check-names.ts
sound() {
  wait "$types"
  wait "$style"
}
[ "$lane" = fast ] || sound
case $lane in
  fast)
    OVERSEER_TEST_SCALE=${OVERSEER_TEST_SCALE:-0.1}
    export OVERSEER_TEST_SCALE
    set -- ./src ./test/contract ./test/properties ./test/bench ./test/sim/odd-seeds.test.ts
    ;;
  long)
    older=test/older-claude
    [ -x "$older/node_modules/@anthropic-ai/claude-code/bin/claude.exe" ] || npm ci --prefix "$older" || {
      echo "The long lane needs the older Claude Code too: npm ci --prefix $older did not bring it." >&2
      exit 1
    }
    set -- ./src ./test
    ;;
  *) set -- ./src ./test ;;
esac
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
report=$scratch/report.xml
mkdir "$scratch/t"
status=0
OVERSEER_TEST_RUN=$scratch/t "$bun" test --parallel=2 --timeout=120000 --timings=test/timings.json \
  --reporter=junit --reporter-outfile="$report" "$@" || status=$?
"$bun" scripts/count-tests.ts "$report" "$status"
[ "$lane" != fast ] || sound
exit "$status"
