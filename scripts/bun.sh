#!/bin/sh
# Prints the path of the Bun that npm installed for this clone, so that nothing depends on a global one.
root=$(cd "$(dirname "$0")/.." && pwd)
for candidate in "$root"/node_modules/@oven/bun-*/bin/bun "$root/node_modules/bun/bin/bun.exe"; do
  if [ -x "$candidate" ]; then echo "$candidate"; exit 0; fi
done
echo "Bun is not installed in this clone. Run: npm ci" >&2
exit 5
