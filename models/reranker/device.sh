#!/usr/bin/env bash
# Trains a large teacher and then the small reranker, within ten minutes on an accelerator; on a CPU the same, with other sizes.
#
#   models/reranker/device.sh DATA OUT [MINUTES_OF_TEACHER MINUTES_OF_PUPIL]
#
# DATA  folder of prepare.py, inside the tree if it has to travel with it
# OUT   written: log.txt, and results.tar.00, .01, ... of at most 15 MiB each: cat OUT/results.tar.* | tar x
#       has teacher/ and pupil/ with state.pt, curve.jsonl, the exported model/, and judged.txt, which is about some questions of
#       half B: a core takes minutes for all of them, so run judge.py again where time does not count
#
# Environment: PYTHON (python3); TEACHER and PUPIL, arguments of train.py in place of the sizes; JUDGE_S, seconds that a judge may take
# (100). Results are packed after each step, so a run that is cut off leaves what it has. Needs what train.py and judge.py need.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
data=$1 out=$2 teacher_minutes=${3:-3.75} pupil_minutes=${4:-3.25}
python=${PYTHON:-python3}
work=$(mktemp -d)
mkdir -p "$out"
trap 'rm -rf "$work"' EXIT

say() { printf '%s %s\n' "$(date +%T)" "$*" | tee -a "$out/log.txt"; }

pack() { # a new set of parts takes the place of the old one
  tar -C "$work" -cf "$work.tar" . && rm -f "$out"/results.tar.*
  split -b 15728640 -d -a 2 "$work.tar" "$out/results.tar."
  rm -f "$work.tar"
}

train() { # name minutes words...
  local name=$1 minutes=$2
  shift 2
  say "$name: $minutes minutes, $*"
  "$python" "$here/train.py" --data "$data" --out "$work/$name" --minutes "$minutes" "$@" >>"$out/log.txt" 2>&1 || say "$name: train.py failed"
  "$python" "$here/export.py" --state "$work/$name/state.pt" --data "$data" --out "$work/$name/model" >>"$out/log.txt" 2>&1 ||
    say "$name: export.py failed"
  pack
}

judge() { # name words...
  local name=$1
  shift
  timeout "${JUDGE_S:-100}" "$python" "$here/judge.py" "$work/$name/model" --data "$data" "$@" >"$work/$name/judged.txt" 2>&1 ||
    say "$name: judge.py had not enough time; run it on the exported model"
  cat "$work/$name/judged.txt" >>"$out/log.txt"
}

"$python" -c 'import torch; print(torch.__version__, torch.cuda.get_device_name(0) if torch.cuda.is_available() else "CPU")' |
  tee -a "$out/log.txt" || exit 1
# shellcheck disable=SC2086 -- lists of words
train teacher "$teacher_minutes" ${TEACHER:---layers 4 --width 256 --heads 8}
judge teacher --most 60 & # beside the training of the pupil
# shellcheck disable=SC2086
train pupil "$pupil_minutes" --teacher "$work/teacher/state.pt" ${PUPIL:---layers 2 --width 128}
wait
judge pupil --most 300
pack
say "done: $(du -ch "$out"/results.tar.* | tail -1)"
