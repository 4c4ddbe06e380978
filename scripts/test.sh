#!/bin/sh
# Runs the checks and the tests. `fast`: rules, properties and contracts only, with a fifth of the rounds; `long`:
# everything, with more rounds (OVERSEER_TEST_SCALE). Ends with the slowest files and one line that counts what ran.
set -eu
cd "$(dirname "$0")/.."
lane=${1:-all}
bun=$(sh scripts/bun.sh)
PATH=$PWD/node_modules/.bin:$PATH
export PATH
sh scripts/bundle.sh
tsc --noEmit
biome check .
"$bun" scripts/check-names.ts
case $lane in
  fast)
    OVERSEER_TEST_SCALE=${OVERSEER_TEST_SCALE:-0.2}
    export OVERSEER_TEST_SCALE
    set -- ./src ./test/contract ./test/properties ./test/bench ./test/sim/odd-seeds.test.ts ./test/sim/even-seeds.test.ts
    ;;
  *) set -- ./src ./test ;;
esac
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
report=$scratch/report.xml
mkdir "$scratch/t"
status=0
OVERSEER_TEST_RUN=$scratch/t "$bun" test --parallel=2 --timeout=120000 --reporter=junit --reporter-outfile="$report" "$@" || status=$?
"$bun" scripts/count-tests.ts "$report"
exit "$status"
