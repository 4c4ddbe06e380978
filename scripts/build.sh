#!/bin/sh
# Builds one self-contained binary, build/overseer or the path that is given, which needs neither Bun nor node. Split,
# because what is loaded only when it is called for halves the start of everything else.
set -eu
cd "$(dirname "$0")/.."
bun=$(sh scripts/bun.sh)
out=${1:-build/overseer}
mkdir -p "$(dirname "$out")"
"$bun" build src/main.ts --compile --bytecode --splitting --format=esm --minify-syntax --minify-whitespace --no-compile-autoload-dotenv --no-compile-autoload-bunfig --outfile="$out"
