#!/usr/bin/env bash
# How long does a first index take, against reading the same files and against extraction alone?
# usage: benches/index.sh WORKTREE   (a daemon that runs there is stopped, its index.db is deleted; MEMO names the client, PARSE
#        the command that extracts alone)
set -euo pipefail
tree=$(cd "$1" && git rev-parse --show-toplevel)
state=$(cd "$tree" && git rev-parse --path-format=absolute --git-common-dir)/memo
memo=${MEMO:-memo}
read -ra parse <<<"${PARSE:-cargo bench --quiet --bench parse --}"
cd "$(dirname "$0")/.."

now() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.2f", b - a }'; }

"$memo" -C "$tree" stop >/dev/null 2>&1 || true
rm -f "$state"/index.db*
start=$(now)
git -C "$tree" ls-files -z -co --exclude-standard | (cd "$tree" && xargs -0 cat 2>/dev/null | wc -c) >/tmp/memod-bench-bytes.$$
read_s=$(since "$start")
bytes=$(cat /tmp/memod-bench-bytes.$$)
rm -f /tmp/memod-bench-bytes.$$
echo "read only:  $bytes bytes in $read_s s"
"${parse[@]}" "$tree"
start=$(now)
"$memo" -C "$tree" init
index_s=$(since "$start")
pid=$("$memo" -C "$tree" status --json | sed -n 's/.*"pid":\([0-9]*\).*/\1/p')
echo "index, embeddings included: $index_s s; $(awk -v a="$index_s" -v b="$read_s" 'BEGIN { printf "%.1f", a / b }') times reading alone"
if [[ -r /proc/$pid/status ]]; then grep -E 'VmHWM|RssAnon' "/proc/$pid/status"; fi
