#!/bin/sh
# Tries the two promises of memod with `memo` and `memod` of PATH: sh check-it-yourself.sh [ROUNDS]. Exits with 1 if one was broken.
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
rounds=${1:-200} stale=0 lost=0 said=no i=0
[ "$rounds" -gt 0 ] 2>/dev/null || { echo "$0: ROUNDS is a number from 1, not $rounds" >&2; exit 2; }
dir=$(mktemp -d) && cd "$dir" && git init -q && memo init --no-hooks >/dev/null || exit 2
trap 'memo daemon stop -q; cd / && rm -rf "$dir"' EXIT
trap 'exit 2' INT TERM
# 1. A search has what was written just before it.
while [ $((i += 1)) -le "$rounds" ]; do
    echo "The word of this round is word$i." > notes.md
    memo search -q --wait-ms 30000 "word$i" | grep -q "is word$i\.$" || stale=$((stale + 1))
done
echo "$rounds writes, a search right after each: $stale answers without what was written"
# 2. A memory is on disk when `memo add` ends. Each round kills the daemon at that moment.
kills=$((rounds / 10 + 1)) i=0
while [ $((i += 1)) -le "$kills" ]; do
    pid=$(memo version | sed -n 's/^memod .* pid //p')
    memo add --force "memory number $i" >/dev/null 2>&1 && kill -9 "$pid"
    memo list --all 2>/dev/null | grep -q "memory number $i$" || lost=$((lost + 1))
done
echo "$kills memories, kill -9 right after each: $lost lost"
# 3. A damaged database is noticed, and loses nothing.
memo daemon stop -q && yes "no database" | head -n 10000 > .git/memo/memory.db
found=$(memo list --all 2> notice | grep -c "memory number") && grep -q "is damaged" notice && said=yes
echo "memory.db overwritten: $found of $kills memories are there; the answer says so: $said"
[ "$stale $lost $said $found" = "0 0 yes $kills" ]
