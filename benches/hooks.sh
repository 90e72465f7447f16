#!/usr/bin/env bash
# What do the hooks cost a commit, and does one ever fail or print? Medians of N commits with and without them, in turn.
# usage: benches/hooks.sh [N=40]   (MEMO and MEMO_DAEMON name the programs; the git is that of PATH)
set -euo pipefail
n=${1:-40}
[[ $n =~ ^[1-9][0-9]*$ ]] || { echo "usage: benches/hooks.sh [N]; N is a number, not $n" >&2; exit 2; }
memo=${MEMO:-memo}
work=$(mktemp -d)
cookies=$work/with/.git/memo/cookies
export HOME=$work GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.org GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.org

cleanup() {
  umount "$cookies" 2>/dev/null || true
  for repo in with without; do "$memo" -C "$work/$repo" stop -q || true; done
  rm -rf "$work"
}
trap cleanup EXIT

for repo in with without; do
  git init -q "$work/$repo"
  rm -f "$work/$repo"/.git/hooks/*.sample
  for file in $(seq 200); do echo "text $file" >"$work/$repo/$file.md"; done
  git -C "$work/$repo" add -A
  git -C "$work/$repo" commit -q -m all
done
"$memo" -C "$work/with" hooks install --chain -q >"$work/table"
"$memo" -C "$work/without" status -q >/dev/null

commit() { # REPOSITORY: appends the microseconds of one commit to its list
  cd "$work/$1"
  local start=${EPOCHREALTIME/./}
  git commit -q --allow-empty -m x >>"$work/said" 2>&1 || echo "exit status $?" >>"$work/said"
  echo $((${EPOCHREALTIME/./} - start)) >>"$work/$1.us"
}
median() { sort -n "$work/$1.us" | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2000 }'; }

measure() { # LABEL
  rm -f "$work"/*.us "$work/said"
  for _ in $(seq "$n"); do
    commit with
    commit without
  done
  awk -v label="$1" -v a="$(median with)" -v b="$(median without)" -v said="$(wc -c <"$work/said")" 'BEGIN {
    printf "%-22s with %6.2f ms  without %6.2f ms  difference %+5.2f ms  ratio %4.2f  ", label, a, b, a - b, a / b
    print said ? said " BYTES PRINTED" : "all succeeded in silence"
  }'
}

pids() { for repo in with without; do "$memo" -C "$work/$repo" status --json | sed -n 's/.*"pid":\([0-9]*\).*/\1/p'; done; }

echo "$(git --version), method $(awk 'NR == 1 { print $2 }' "$work/table"), $n commits of each, medians"
measure "daemon runs"
mapfile -t daemons < <(pids)
kill -STOP "${daemons[@]}"
measure "daemon stands still"
kill -CONT "${daemons[@]}"
for repo in with without; do "$memo" -C "$work/$repo" stop -q; done
measure "no daemon"
touch "$cookies/autostart"
(
  PATH=$(dirname "$(command -v git)"):/usr/bin:/bin
  if command -v memod >/dev/null; then echo "NOT CHECKED: autostart without memod, it is in PATH"; else measure "autostart, no memod"; fi
)
rm "$cookies/autostart"
if mount -t tmpfs -o size=4k none "$cookies" 2>/dev/null; then
  head -c 8192 /dev/zero >"$cookies/doorbell" 2>/dev/null || true
  measure "disk full"
  mount -o remount,ro "$cookies"
  measure "state read-only"
  umount "$cookies"
else
  echo "NOT CHECKED: a full and a read-only disk, this user may not mount"
fi
rm -r "$work/with/.git/memo"
measure "no state dir"
