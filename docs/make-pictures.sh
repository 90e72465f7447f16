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

# The page, with the file of the note that drifted.
node --input-type=module - "$top" "$(memo serve)" <<'END'
const [top, url] = process.argv.slice(2);
const { findBrowser, install } = await import(`${top}/tests/browser/tools.mjs`);
const { Browser } = await import(`${top}/tests/browser/browser.mjs`);
const { tmpdir } = await import("node:os");
const { chromium, axe } = install(`${tmpdir()}/memod-browser-tools`);
const started = await chromium.launch({ executablePath: findBrowser(), args: ["--no-sandbox"] });
const page = await new Browser(started, axe, { url }).open({ width: 1200, height: 680, hash: "#/code/src/session.rs" });
await page.screenshot({ path: `${top}/docs/src/pictures/page.png` });
await started.close();
END
