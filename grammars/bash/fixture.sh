#!/usr/bin/env bash
# Waters the plants.
set -euo pipefail

source ./lib.sh

readonly MAX_LITRES=5
export GARDEN="back"
LOG=/tmp/water.log
declare -A beds=([roses]=1)

# Prints what it does.
say() {
  printf '%s\n' "$*" >>"$LOG"
}

function water {
  local litres=${1:-1}
  if ((litres > MAX_LITRES)); then
    say "too much"
    return 1
  fi
  open_valve "$litres"
}

function drain() {
  inner() { close_valve; }
  inner
}

main() (
  for bed in "${!beds[@]}"; do
    water "$(litres_for "$bed")"
  done
)

main "$@"
