#!/bin/sh
# What a newcomer does and nothing else: a fresh clone, an empty HOME, the commands of the README's first block, each as
# it is printed there. `demo` stops after the first of them.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir "$place/home"
git clone --quiet "$root" "$place/clone"
cd "$place/clone"
sed -n '/^## Two commands/,/^## /{/^```sh/,/^```$/{/^```/!p;};}' README.md | sed 's/ *#.*//' >"$place/commands"
[ "${1:-}" = demo ] && sed -i.bak 1q "$place/commands"
[ -s "$place/commands" ]
while IFS= read -r line; do
  echo "\$ $line"
  env -i HOME="$place/home" PATH="$PATH" TERM="${TERM:-dumb}" LANG="${LANG:-C.UTF-8}" sh -ec "$line" </dev/null
done <"$place/commands"
