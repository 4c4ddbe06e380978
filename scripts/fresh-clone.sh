#!/bin/sh
# What a newcomer does and nothing else: a fresh clone of what is committed, an empty HOME, the commands of the README's
# first block, each as it is printed there. Stops at the first that fails and says at the end that all of them held.
# `demo` stops after the first of them: the second runs every test, which takes its ten minutes.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir "$place/home"
git clone --quiet "$root" "$place/clone"
cd "$place/clone"
sed -n '/^## Two commands/,/^## /{/^```sh/,/^```$/{/^```/!p;};}' README.md | sed 's/ *#.*//' >"$place/commands"
[ "$(wc -l <"$place/commands")" -eq 2 ]
[ "${1:-}" = demo ] && sed -i.bak 1q "$place/commands"
held=0
while IFS= read -r line; do
  echo "\$ $line"
  env -i HOME="$place/home" PATH="$PATH" TERM="${TERM:-dumb}" LANG="${LANG:-C.UTF-8}" sh -ec "$line" </dev/null
  held=$((held + 1))
done <"$place/commands"
case $held in
  1) echo "The README's first command held, in a fresh clone with an empty HOME." ;;
  *) echo "Both of the README's first commands held, in a fresh clone with an empty HOME." ;;
esac
