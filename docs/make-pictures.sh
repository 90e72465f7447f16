#!/bin/sh
# Makes the pictures of README.md, with `memo` and `memod` of PATH. Needs aha, chromium, node and npm.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
dir=$(mktemp -d)
trap 'memo demo --remove "$dir/shop" >/dev/null; rm -rf "$dir"' EXIT

# The commands of a terminal, in the shop of the demo.
memo demo "$dir/shop" >/dev/null 2>&1
cd "$dir/shop"
question="how long is a token valid"
{
  printf '\033[1m$ memo search -n 2 "%s"\033[0m\n' "$question"
  memo search -n 2 "$question" --color always --no-pager
  printf '\n\033[1m$ memo callers verify\033[0m\n'
  memo callers verify --color always --no-pager
  printf '\n\033[1m$ memo list --state drifted\033[0m\n'
  memo list --state drifted --color always --no-pager
} | aha --black --word-wrap --style 'font: 15px/1.4 monospace; padding: 1em' >"$dir/search.html"
chromium --headless --no-sandbox --hide-scrollbars --disable-gpu --force-device-scale-factor=1.5 \
  --user-data-dir="$dir/profile" --window-size=900,540 --screenshot="$top/docs/src/pictures/search.png" \
  "file://$dir/search.html" 2>/dev/null

# The page, as the tests of the dashboard see it.
node "$top/tests/browser/run.mjs" --memo "$(command -v memo)" --shots "$dir/shots" --only "axe finds nothing" >/dev/null
cp "$dir/shots/drift-light-1400.png" "$top/docs/src/pictures/page.png"
