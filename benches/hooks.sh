#!/usr/bin/env bash
# What do the hooks cost a commit? Medians of N commits with and without them, in turn.
# usage: benches/hooks.sh [N=40]   (MEMO and MEMO_DAEMON name the programs; the git is that of PATH)
set -euo pipefail
n=${1:-40}
memo=${MEMO:-memo}
work=$(mktemp -d)
export HOME=$work GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.org GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.org
trap 'for repo in with without; do "$memo" -C "$work/$repo" stop -q || true; done; rm -rf "$work"' EXIT

for repo in with without; do
  git init -q "$work/$repo"
  rm -f "$work/$repo"/.git/hooks/*.sample
  for file in $(seq 200); do echo "text $file" >"$work/$repo/$file.md"; done
  git -C "$work/$repo" add -A
  git -C "$work/$repo" commit -q -m all
done
"$memo" -C "$work/with" hooks install --chain -q >"$work/table"
"$memo" -C "$work/without" status -q >/dev/null

# Microseconds of one commit.
commit() {
  cd "$work/$1"
  local start=${EPOCHREALTIME/./}
  git commit -q --allow-empty -m x
  echo $((${EPOCHREALTIME/./} - start))
}
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2000 }'; }

measure() { # LABEL
  : >"$work/a"
  : >"$work/b"
  for _ in $(seq "$n"); do
    commit with >>"$work/a"
    commit without >>"$work/b"
  done
  a=$(median "$work/a") b=$(median "$work/b")
  printf '%-24s with %6.2f ms  without %6.2f ms  difference %+5.2f ms  ratio %4.2f\n' "$1" "$a" "$b" \
    "$(awk -v a="$a" -v b="$b" 'BEGIN { print a - b }')" "$(awk -v a="$a" -v b="$b" 'BEGIN { print a / b }')"
}

echo "$(git --version), method $(awk 'NR == 1 { print $2 }' "$work/table"), $n commits of each, medians"
measure "daemon runs"
pids=()
for repo in with without; do pids+=("$("$memo" -C "$work/$repo" status --json | sed -n 's/.*"pid":\([0-9]*\).*/\1/p')"); done
kill -STOP "${pids[@]}"
measure "daemon stands still"
kill -CONT "${pids[@]}"
for repo in with without; do "$memo" -C "$work/$repo" stop -q; done
measure "no daemon"
rm -r "$work/with/.git/memo"
measure "no state dir"
