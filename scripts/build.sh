#!/bin/sh
# Builds one self-contained binary, build/overseer, which needs neither Bun nor node.
set -eu
cd "$(dirname "$0")/.."
bun=$(sh scripts/bun.sh)
mkdir -p build
"$bun" build src/main.ts --compile --bytecode --format=esm --minify-syntax --no-compile-autoload-dotenv --no-compile-autoload-bunfig --outfile=build/overseer
