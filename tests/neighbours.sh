#!/usr/bin/env bash
# Do memo's hooks and those of others live side by side, whoever comes first, and is nothing of ours left behind?
#
# usage: [NEIGHBOURS='husky shell'] tests/neighbours.sh [GIT_BIN_DIR…]   (directories of gits to try; without, the one in PATH)
#
# Real husky and lefthook (npm), pre-commit (PyPI) and git-lfs (apt), installed into $TOOLS when they are not there;
# what cannot be had is said. One row for each git, neighbour and order:
#   method      what `memo hooks` says is in force
#   theirs ran  how often a hook of the neighbour ran, of how often it should have
#   ours rang   how often ours did
#   left        whether every hook and .git/config are byte for byte, modes included, what they are without memo
# Exits with 1 when anything was left, a hook of the neighbour did not run that would have run without us, or ours never rang
# where they are in force.
set -uo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
bin=${BIN:-$here/target/debug}
work=$(mktemp -d)
tools=${TOOLS:-$work/tools}
trap 'cleanup' EXIT
export HOME=$work/home XDG_CONFIG_HOME=$work/home/.config XDG_RUNTIME_DIR=$work/run TMPDIR=$work/tmp GIT_CONFIG_NOSYSTEM=1
mkdir -p "$HOME" "$XDG_RUNTIME_DIR" "$TMPDIR" "$tools" "$work/bin"
chmod 700 "$XDG_RUNTIME_DIR"
printf '[user]\n name = t\n email = t@example.org\n[init]\n defaultBranch = main\n[advice]\n detachedHead = false\n' >"$HOME/.gitconfig"
unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE
export RAN=$work/ran
repo=$work/repo
failed=0
events=(post-commit post-checkout post-merge post-rewrite)
neighbours=${NEIGHBOURS:-husky lefthook precommit gitlfs shell noshebang python crlf relative absolute link readonly}
wanted() { [[ " $neighbours " == *" $1 "* ]]; }

cleanup() {
  umount "$repo/.git/hooks" 2>/dev/null
  (cd "$repo" 2>/dev/null && "$bin/memo" stop -q)
  rm -rf "$work"
}

# --- tools -----------------------------------------------------------------------------------------------------

not_checked() { echo "NOT CHECKED: $*"; }

if { wanted husky || wanted lefthook; } && command -v npm >/dev/null && [[ ! -x $tools/node_modules/.bin/husky || ! -x $tools/node_modules/.bin/lefthook ]]; then
  # The script of lefthook's package sets up hooks in the repository in which npm was called.
  (cd "$tools" && npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$tools" husky lefthook) >/dev/null 2>&1
fi
if wanted precommit && [[ ! -x $tools/venv/bin/pre-commit ]]; then
  { python3 -m venv "$tools/venv" && "$tools/venv/bin/pip" install -q pre-commit; } >/dev/null 2>&1
fi
export PATH=$tools/node_modules/.bin:$tools/venv/bin:$PATH
lfs=$(command -v git-lfs || true)
if [[ -n $lfs ]]; then # git-lfs has hooks of its own, so a wrapper says when they ran
  printf '#!/bin/sh\ncase $1 in post-*) echo "$1" >>"$RAN";; esac\nexec %q "$@"\n' "$lfs" >"$work/bin/git-lfs"
  chmod +x "$work/bin/git-lfs"
fi

# --- neighbours: each sets itself up in the current repository, and says which hooks it has -------------------------

put() { # PATH MODE TEXT
  mkdir -p "$(dirname "$1")"
  printf "$3" >"$1"
  chmod "$2" "$1"
}

husky_has() { [[ -x $tools/node_modules/.bin/husky ]]; }
husky() {
  for event in "${events[@]}"; do put ".husky/$event" 644 "echo $event >>\"\$RAN\"\n"; done
  command husky
}
lefthook_has() { [[ -x $tools/node_modules/.bin/lefthook ]] && command lefthook version >/dev/null 2>&1; }
lefthook() {
  for event in "${events[@]}"; do printf '%s:\n  commands:\n    say:\n      run: echo %s >>"$RAN"\n' "$event" "$event"; done >lefthook.yml
  command lefthook install
}
precommit_has() { command -v pre-commit >/dev/null; }
precommit() {
  {
    printf 'repos:\n- repo: local\n  hooks:\n  - id: say\n    name: say\n    language: system\n    always_run: true\n    pass_filenames: false\n'
    printf '    entry: sh -c '"'"'echo ran >>"$RAN"'"'"'\n    stages: [post-commit, post-checkout, post-merge, post-rewrite]\n'
  } >.pre-commit-config.yaml
  for event in "${events[@]}"; do pre-commit install -t "$event" || return; done
}
gitlfs_has() { [[ -n $lfs ]]; }
gitlfs() { git lfs install --local; }
always() { return 0; }
shell_has() { always; }
shell() { for event in "${events[@]}"; do put ".git/hooks/$event" 750 "#!/bin/sh\necho ran >>\"\$RAN\"\nexit 0\n"; done; }
noshebang_has() { always; }
noshebang() { for event in "${events[@]}"; do put ".git/hooks/$event" 711 "echo ran >>\"\$RAN\""; done; }
python_has() { command -v python3 >/dev/null; }
python() {
  for event in "${events[@]}"; do
    put ".git/hooks/$event" 755 "#!/usr/bin/env python3\nimport os\nopen(os.environ['RAN'], 'a').write('ran\\\\n')\n"
  done
}
crlf_has() { always; }
crlf() { for event in "${events[@]}"; do put ".git/hooks/$event" 755 "#!/bin/sh\necho ran >>\"\$RAN\" #\r\nexit 0 #\r\n"; done; }
relative_has() { always; }
relative() {
  for event in "${events[@]}"; do put ".githooks/$event" 755 "#!/bin/bash -e\necho ran >>\"\$RAN\"\n"; done
  git config core.hooksPath .githooks
}
absolute_has() { always; }
absolute() {
  for event in "${events[@]}"; do put "$work/shared/$event" 755 "#!/bin/sh\necho ran >>\"\$RAN\"\n"; done
  git config core.hooksPath "$work/shared"
}
link_has() { always; }
link() {
  for event in "${events[@]}"; do put "$work/shared/$event" 755 "#!/bin/sh\necho ran >>\"\$RAN\"\n"; done
  [[ -L .git/hooks ]] || { cp -p .git/hooks/* "$work/shared/" 2>/dev/null; rm -rf .git/hooks; ln -s "$work/shared" .git/hooks; shell_into "$work/shared"; }
}
shell_into() { for event in "${events[@]}"; do put "$1/$event" 755 "#!/bin/sh\necho ran >>\"\$RAN\"\n"; done; }
readonly_has() { mount --bind / "$work/probe" 2>/dev/null && umount "$work/probe"; }
readonly_() {
  shell
  mount --bind .git/hooks .git/hooks && mount -o remount,ro,bind .git/hooks
}
mkdir -p "$work/probe"

# --- one row -----------------------------------------------------------------------------------------------------

fresh() {
  (cd "$repo" 2>/dev/null && "$bin/memo" stop -q 2>/dev/null)
  umount "$repo/.git/hooks" 2>/dev/null
  rm -rf "$repo" "$work/shared"
  git init -q "$repo"
  rm -f "$repo"/.git/hooks/*.sample
  cd "$repo" || exit 3
  echo a >a.md
  git add a.md
  git -c core.hooksPath=/dev/null commit -q -m a
}

# Every hook and the configuration: name, mode, hash.
snapshot() {
  local dir
  for dir in .git/hooks .husky/_ .githooks "$work/shared"; do
    [[ -d $dir ]] && find -H "$dir" -mindepth 1 -printf '%p %m %l\n' | sort
    [[ -d $dir ]] && find -H "$dir" -type f -exec sha256sum {} + | sort
  done
  stat -c '%n %a' .git/config
  # git-lfs writes its settings in an order that differs each time.
  if [[ ${1-} == gitlfs ]]; then sort .git/config | sha256sum; else sha256sum .git/config; fi
}

# Fires each of the four hooks at least once; says nothing, or the row fails.
work_with_git() {
  git commit -q --allow-empty -m one &&
    git checkout -q -b side &&
    git commit -q --allow-empty -m two &&
    git checkout -q main &&
    git merge -q --no-ff -m merged side &&
    git commit -q --amend -m amended
}
row() { # GIT NEIGHBOUR ORDER
  local name=$2 order=$3 setup=$2 before after method ran rang left note='' chain='' expected
  [[ $name == readonly ]] && setup=readonly_
  fresh # as it is without us
  "$setup" >/dev/null 2>&1
  before=$(snapshot "$name")
  : >"$RAN"
  work_with_git >/dev/null 2>&1
  expected=$(wc -l <"$RAN")

  fresh
  [[ $order == *-chain ]] && chain=--chain
  case $order in
  theirs-ours*)
    "$setup" >/dev/null 2>&1
    memo hooks install -q $chain >/dev/null
    ;;
  ours-theirs*)
    memo hooks install -q >/dev/null
    "$setup" >/dev/null 2>&1 || note="it refuses"
    [[ -z $chain ]] || memo hooks install -q --chain >/dev/null
    ;;
  esac
  method=$(memo hooks status -q | awk 'NR <= 4 { print $2 }' | sort | uniq -c | awk '{ printf "%s%s %s", s, $1, $2; s = ", " }')
  memo daemon stop -q
  : >"$RAN"
  : >.git/memo/cookies/doorbell
  work_with_git >"$work/said" 2>&1 || note+=" git failed"
  ran=$(wc -l <"$RAN")
  rang=$(stat -c %s .git/memo/cookies/doorbell)
  memo hooks uninstall -q >/dev/null
  after=$(snapshot "$name")
  if [[ $before == "$after" ]]; then
    left=nothing
  elif [[ $note == "it refuses" ]]; then
    left="nothing of ours"
    grep -rqs 'memo hooks' .git/hooks .git/config && { left=OURS; failed=1; }
  else
    left=DIFFERENT
    failed=1
    diff <(echo "$before") <(echo "$after") >&2
  fi
  if ((ran < expected)) && [[ $note != "it refuses" ]]; then failed=1 note+=" THEIRS DID NOT RUN"; fi
  if [[ $method != "4 watch-only" ]] && ((rang == 0)); then failed=1 note+=" OURS DID NOT RING"; fi
  printf '%-10s %-10s %-18s %-26s %2s of %-2s      %-9s %-15s %s\n' "$1" "$name" "$order" "$method" "$ran" "$expected" "$rang" "$left" "$note"
}

# --- all rows ----------------------------------------------------------------------------------------------------

path=$PATH
(($#)) || set -- "$(dirname "$(command -v git)")"
printf '%-10s %-10s %-18s %-26s %-13s %-9s %s\n' git neighbour order method 'theirs ran' 'ours rang' left
for gits in "$@"; do
  export PATH=$work/bin:$bin:$gits:$path
  version=$(git --version | awk '{ print $3 }')
  for neighbour in $neighbours; do
    if ! "${neighbour}_has"; then
      not_checked "$neighbour is not there, or cannot be made"
      continue
    fi
    orders=(theirs-ours theirs-ours-chain ours-theirs ours-theirs-chain)
    # Who writes over a hook by hand, or mounts something over it, takes ours away himself.
    case $neighbour in shell | noshebang | python | crlf | readonly) orders=(theirs-ours theirs-ours-chain) ;; esac
    for order in "${orders[@]}"; do row "$version" "$neighbour" "$order"; done
  done
done
exit "$failed"
