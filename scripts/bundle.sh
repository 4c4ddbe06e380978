#!/bin/sh
# Bundles the program into dist/: one entry, one chunk per command, so that a command loads only what it uses.
set -eu
cd "$(dirname "$0")/.."
bun=$(sh scripts/bun.sh)
rm -rf dist.new
"$bun" build src/main.ts --target=bun --splitting --outdir=dist.new --entry-naming='overseer.js' --chunk-naming='chunk-[hash].js' >/dev/null
rm -rf dist
mv dist.new dist
