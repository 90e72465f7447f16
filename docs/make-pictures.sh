#!/bin/sh
# Makes the pictures of README.md from a new demo, with `memo` and `memod` of PATH. Needs aha and chromium.
set -eu
pictures=$(cd "$(dirname "$0")/src/pictures" && pwd)
dir=$(mktemp -d)
trap 'memo demo --remove "$dir/shop" >/dev/null; rm -rf "$dir"' EXIT
memo demo "$dir/shop" >/dev/null 2>&1
cd "$dir/shop"

# photograph URL FILE WIDTH,HEIGHT: chromium waits until the page has its data.
photograph() {
  chromium --headless --no-sandbox --hide-scrollbars --disable-gpu --force-device-scale-factor=2 \
    --user-data-dir="$dir/profile" --virtual-time-budget=5000 --window-size="$3" --screenshot="$2" "$1" 2>/dev/null
}

# run COMMAND: prints it as typed, and its coloured output.
run() {
  printf '\033[1m$ %s\033[0m\n' "$*"
  "$@" --color always --no-pager 2>/dev/null
  echo
}
{
  run memo search -n 2 "how long is a token valid"
  run memo callers verify
  run memo list --state drifted
} | aha --black --style 'font: 15px/1.4 monospace; padding: 1em' >"$dir/search.html"
photograph "file://$dir/search.html" "$pictures/search.png" 900,520

address=$(memo serve)
photograph "$address" "$pictures/page.png" 1100,800
memo serve --stop >/dev/null
