//! What does git do, and which text comes and goes with it?

/// One thing git does.
pub(super) struct Row {
    pub(super) name: &'static str,
    /// Shell commands that make ready for it.
    pub(super) before: &'static str,
    /// Shell commands.
    pub(super) command: &'static str,
    /// `[@worktree ]word path`: found nowhere before it, there after it.
    pub(super) came: &'static str,
    /// The same of what is there before it, and nowhere after it.
    pub(super) went: &'static str,
}

const fn row(
    name: &'static str,
    before: &'static str,
    command: &'static str,
    came: &'static str,
    went: &'static str,
) -> Row {
    Row { name, before, command, came, went }
}

/// Makes the history that every row begins with.
///
/// ```text
/// root ─ base (main) ─ ahead      and at the remote: base ─ remote
///   ├─ side                       other files than main's
///   └─ clash                      main's a.md, otherwise
/// ```
pub(super) const BASE: &str = r"
put() { mkdir -p $(dirname $1); echo $2 > $1; }
commit() { git add -A; git commit -qm $1; git branch -f $1; }
put a.md apple; put b.md banana; put dir/c.md cherry; put other/o.md orange; put .gitignore '*.log'; commit root
put a.md apricot; put m.md mango; commit base
git checkout -qb ahead_; put h.md hazel; git rm -q dir/c.md; commit ahead
git checkout -qb side_ root; put s.md sigma; put b.md blueberry; commit side
git checkout -qb clash_ root; put a.md avocado; git rm -q dir/c.md; commit clash
git checkout -qb remote_ base; put r.md raspberry; put b.md boysenberry; commit remote
git clone -q --bare . ../remote.git; git -C ../remote.git update-ref refs/heads/main remote
git checkout -q main; git remote add origin ../remote.git
git init -q ../lib; cd ../lib; put l.md lemon; git add -A; git commit -qm one
put l.md lime; git commit -qam two; cd ../work
git worktree add -q --detach ../never-opened root";

/// Brings everything back to that.
pub(super) const RESET: &str = r"
for dir in linked moved in/side; do git worktree remove -f $dir 2>/dev/null || :; done
for dir in ../linked ../moved; do git worktree remove -f $dir 2>/dev/null || :; done
if [ -d .git/rebase-merge ] || [ -d .git/rebase-apply ]; then git rebase --abort 2>/dev/null || git am --abort; fi
if [ -f .git/BISECT_LOG ]; then git bisect reset 2>/dev/null; fi
git sparse-checkout disable; if [ -d .git/modules ]; then git submodule --quiet deinit -f --all; rm -rf .git/modules; fi
git reset -q --hard; git checkout -qfB main base; git clean -qffdx; git stash clear; rm -f .git/hooks/pre-commit";

pub(super) const COMMITS_AND_CHECKOUTS: &[Row] = &[
    row("commit", "", "echo fig > m.md; git commit -qam x", "fig m.md", "mango m.md"),
    row(
        "commit --amend",
        "echo fig > f.md; git add .; git commit -qm x",
        "echo grape > f.md; git commit -qa --amend --no-edit",
        "grape f.md",
        "fig f.md",
    ),
    row(
        "commit --no-verify",
        "mkdir -p .git/hooks; printf '#!/bin/sh\nexit 1\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
        "echo fig > m.md; git commit -qam x --no-verify",
        "fig m.md",
        "mango m.md",
    ),
    row("checkout BRANCH", "", "git checkout -q side", "sigma s.md", "mango m.md"),
    row("checkout --detach", "", "git checkout -q --detach root", "apple a.md", "apricot a.md"),
    row("checkout -f", "echo fig > a.md", "git checkout -qf clash", "avocado a.md", "fig a.md"),
    row("checkout -- PATH", "echo fig > a.md", "git checkout -q -- a.md", "apricot a.md", "fig a.md"),
    row("checkout COMMIT -- PATH", "", "git checkout -q root -- a.md", "apple a.md", "apricot a.md"),
    row(
        "checkout --orphan",
        "",
        "git checkout -q --orphan o; git rm -qf a.md; echo fig > f.md",
        "fig f.md",
        "apricot a.md",
    ),
    row("switch", "", "git switch -q side", "blueberry b.md", "banana b.md"),
    row("switch -c", "", "git switch -qC new ahead", "hazel h.md", "cherry dir/c.md"),
    row(
        "switch -",
        "git switch -q side; git switch -q main",
        "git switch -q -",
        "sigma s.md",
        "apricot a.md",
    ),
    row("restore", "echo fig > a.md", "git restore a.md", "apricot a.md", "fig a.md"),
    row("restore --source", "", "git restore --source=root .", "apple a.md", "mango m.md"),
    row(
        "restore --staged",
        "echo fig > x.log; git add -f x.log",
        "git restore --staged x.log; echo grape > a.md",
        "grape a.md",
        "fig x.log",
    ),
    row("reset --soft", "", "git reset -q --soft root; echo fig > m.md", "fig m.md", "mango m.md"),
    row(
        "reset --mixed",
        "echo fig > x.log; git add -f x.log; git commit -qm x",
        "git reset -q --mixed base; echo grape > a.md",
        "grape a.md",
        "fig x.log",
    ),
    row("reset --hard", "", "git reset -q --hard root", "apple a.md", "mango m.md"),
    row("reset --keep", "echo fig > b.md", "git reset -q --keep root", "apple a.md", "mango m.md"),
    row("stash", "echo fig > a.md", "git stash -q", "apricot a.md", "fig a.md"),
    row("stash -u", "echo fig > f.md; rm a.md", "git stash -qu", "apricot a.md", "fig f.md"),
    row("stash -a", "echo fig > f.md; echo x > x.log; rm a.md", "git stash -qa", "apricot a.md", "fig f.md"),
    row("stash pop", "echo fig > a.md; git stash -q", "git stash pop -q", "fig a.md", "apricot a.md"),
    row(
        "stash apply, conflict",
        "echo fig > a.md; git stash -q; rm b.md; echo grape > a.md; git commit -qam x",
        "git checkout -q side -- b.md; git reset -q --hard root; git stash apply -q 2>/dev/null || :",
        "fig a.md",
        "grape a.md",
    ),
    row(
        "bisect",
        "for word in fig grape kiwi; do echo $word > n.md; git add .; git commit -qm $word; done",
        "git bisect start HEAD base >/dev/null",
        "grape n.md",
        "kiwi n.md",
    ),
    row(
        "bisect reset",
        "for word in fig grape kiwi; do echo $word > n.md; git add .; git commit -qm $word; done
         git bisect start HEAD base >/dev/null",
        "git bisect reset 2>/dev/null",
        "kiwi n.md",
        "grape n.md",
    ),
];

pub(super) const MERGES_AND_REBASES: &[Row] = &[
    row("merge --ff-only", "", "git merge -q --ff-only ahead", "hazel h.md", "cherry dir/c.md"),
    row("merge --no-ff", "", "git merge -q --no-ff -m x ahead", "hazel h.md", "cherry dir/c.md"),
    row("merge", "", "git merge -q -m x side", "blueberry b.md", "banana b.md"),
    row("merge --squash", "", "git merge -q --squash side", "blueberry b.md", "banana b.md"),
    row("merge, conflict", "", "! git merge -q clash 2>/dev/null", "avocado a.md", "cherry dir/c.md"),
    row(
        "merge --abort",
        "! git merge -q clash 2>/dev/null",
        "git merge --abort",
        "cherry dir/c.md",
        "avocado a.md",
    ),
    row("merge -X theirs", "", "git merge -q -m x -X theirs clash", "avocado a.md", "apricot a.md"),
    row("merge -s ours", "", "git merge -q -m x -s ours clash; echo fig > a.md", "fig a.md", "apricot a.md"),
    row(
        "octopus",
        "git branch -f o base; git reset -q --hard root",
        "git merge -q -m x o side",
        "sigma s.md",
        "apple a.md",
    ),
    row("pull --ff-only", "", "git pull -q --ff-only origin main", "raspberry r.md", "banana b.md"),
    row(
        "pull",
        "echo fig > a.md; git commit -qam x",
        "git pull -q --no-rebase --no-edit origin main",
        "raspberry r.md",
        "banana b.md",
    ),
    row(
        "pull --rebase",
        "echo fig > a.md; git commit -qam x",
        "git pull -q --rebase origin main",
        "boysenberry b.md",
        "banana b.md",
    ),
    row(
        "pull --rebase --autostash",
        "echo fig > a.md",
        "git pull -q --rebase --autostash origin main 2>/dev/null",
        "boysenberry b.md",
        "banana b.md",
    ),
    row("rebase --merge", "", "git rebase -q --merge side", "sigma s.md", "banana b.md"),
    row("rebase --apply", "", "git rebase -q --apply side", "sigma s.md", "banana b.md"),
    row(
        "rebase --merge, conflict",
        "",
        "! git rebase -q --merge clash >/dev/null 2>&1",
        "avocado a.md",
        "cherry dir/c.md",
    ),
    row(
        "rebase --apply, conflict",
        "",
        "! git rebase -q --apply clash >/dev/null 2>&1",
        "avocado a.md",
        "cherry dir/c.md",
    ),
    row(
        "rebase --merge --abort",
        "! git rebase -q --merge clash >/dev/null 2>&1",
        "git rebase --abort",
        "cherry dir/c.md",
        "avocado a.md",
    ),
    row(
        "rebase --apply --abort",
        "! git rebase -q --apply clash >/dev/null 2>&1",
        "git rebase --abort",
        "cherry dir/c.md",
        "avocado a.md",
    ),
    row(
        "rebase --merge --continue",
        "! git rebase -q --merge clash >/dev/null 2>&1; git add a.md",
        "echo fig > a.md; git add a.md; GIT_EDITOR=: git rebase --continue >/dev/null 2>&1",
        "fig a.md",
        "avocado a.md",
    ),
    row(
        "rebase --apply --skip",
        "! git rebase -q --apply clash >/dev/null 2>&1",
        "git rebase --skip >/dev/null; echo fig > f.md",
        "fig f.md",
        "apricot a.md",
    ),
    row(
        "rebase -i, two squashed",
        "for word in fig grape; do echo $word > n.md; git add .; git commit -qm $word; done",
        "GIT_SEQUENCE_EDITOR='sed -i 2s/pick/fixup/' git rebase -qi --onto side base",
        "sigma s.md",
        "banana b.md",
    ),
    row("cherry-pick", "", "git cherry-pick side >/dev/null", "sigma s.md", "banana b.md"),
    row("cherry-pick -n", "", "git cherry-pick -n side >/dev/null", "sigma s.md", "banana b.md"),
    row(
        "cherry-pick, conflict",
        "",
        "! git cherry-pick clash >/dev/null 2>&1",
        "avocado a.md",
        "cherry dir/c.md",
    ),
    row(
        "cherry-pick --abort",
        "! git cherry-pick clash >/dev/null 2>&1",
        "git cherry-pick --abort",
        "cherry dir/c.md",
        "avocado a.md",
    ),
    row("revert", "", "git revert --no-edit base >/dev/null", "apple a.md", "mango m.md"),
    row(
        "am",
        "git format-patch -q -1 --stdout side > ../side.patch",
        "git am -q ../side.patch",
        "sigma s.md",
        "banana b.md",
    ),
    row(
        "am --3way, conflict",
        "git format-patch -q -1 --stdout clash > ../clash.patch",
        "! git am -q --3way ../clash.patch >/dev/null 2>&1",
        "avocado a.md",
        "cherry dir/c.md",
    ),
    row(
        "am --abort",
        "git format-patch -q -1 --stdout clash > ../clash.patch
         ! git am -q --3way ../clash.patch >/dev/null 2>&1",
        "git am --abort",
        "cherry dir/c.md",
        "avocado a.md",
    ),
    row("apply", "git diff main side > ../diff", "git apply ../diff", "sigma s.md", "mango m.md"),
];

pub(super) const INDEX_AND_WORKTREE: &[Row] = &[
    row(
        "clean -fdx",
        "mkdir -p n/m; echo fig > n/m/f.md; echo x > x.log",
        "git clean -qfdx; echo grape > a.md",
        "grape a.md",
        "fig n/m/f.md",
    ),
    row(
        "checkout-index -f",
        "echo fig > a.md; rm b.md",
        "git checkout-index -qfa",
        "banana b.md",
        "fig a.md",
    ),
    row("update-ref", "", "git update-ref refs/heads/main root; echo fig > m.md", "fig m.md", "mango m.md"),
    row(
        "symbolic-ref",
        "",
        "git symbolic-ref HEAD refs/heads/side; git reset -q --hard",
        "sigma s.md",
        "mango m.md",
    ),
    row("read-tree -um", "", "git read-tree -um HEAD side", "sigma s.md", "mango m.md"),
    row(
        "read-tree --empty",
        "echo fig > x.log; git add -f x.log",
        "git read-tree --empty; echo kiwi > k.md",
        "kiwi k.md",
        "fig x.log",
    ),
    row("rm", "", "git rm -q a.md; echo fig > f.md", "fig f.md", "apricot a.md"),
    row(
        "rm --cached",
        "echo fig > x.log; git add -f x.log; git commit -qm x",
        "git rm -q --cached x.log; echo grape > a.md",
        "grape a.md",
        "fig x.log",
    ),
    row("mv", "", "git mv a.md z.md; echo fig > z.md", "fig z.md", "apricot a.md"),
    row("mv DIR", "", "git mv dir to; echo fig > to/c.md", "fig to/c.md", "cherry dir/c.md"),
    row(
        "update-index --assume-unchanged",
        "git update-index --assume-unchanged a.md",
        "echo fig > a.md; git update-index --refresh -q",
        "fig a.md",
        "apricot a.md",
    ),
    row(
        "update-index --skip-worktree",
        "git update-index --skip-worktree a.md",
        "echo fig > a.md; git status >/dev/null",
        "fig a.md",
        "apricot a.md",
    ),
    row("add --intent-to-add", "echo fig > x.log", "git add -fN x.log; rm a.md", "fig x.log", "apricot a.md"),
    row(
        "sparse-checkout set",
        "",
        "git sparse-checkout set dir; echo fig > dir/f.md",
        "fig dir/f.md",
        "orange other/o.md",
    ),
    row(
        "sparse-checkout set --no-cone",
        "",
        "git sparse-checkout set --no-cone '/*.md' '!/m.md'; echo fig > f.md",
        "fig f.md",
        "mango m.md",
    ),
    row(
        "sparse-checkout disable",
        "git sparse-checkout set dir; echo fig > dir/f.md",
        "git sparse-checkout disable; rm dir/f.md",
        "orange other/o.md",
        "fig dir/f.md",
    ),
    row(
        "sparse index",
        "git sparse-checkout set --sparse-index dir; echo fig > dir/f.md",
        "git checkout -q side; rm dir/f.md",
        "sigma s.md",
        "fig dir/f.md",
    ),
    row("gc", "", "git gc -q --prune=now; git reset -q --hard root", "apple a.md", "mango m.md"),
    row("pack-refs", "git pack-refs --all --prune", "git checkout -q side", "sigma s.md", "mango m.md"),
    row(
        "index.version 4",
        "git update-index --index-version 4",
        "git rm -q a.md; echo fig > f.md",
        "fig f.md",
        "apricot a.md",
    ),
    row(
        "split index",
        "git update-index --split-index",
        "git checkout -q side; git update-index --no-split-index",
        "sigma s.md",
        "mango m.md",
    ),
    row(
        "untracked cache, fsmonitor off",
        "git config core.untrackedCache true; git status >/dev/null",
        "echo fig > n.md; git status >/dev/null; git config --unset core.untrackedCache; rm m.md",
        "fig n.md",
        "mango m.md",
    ),
];

pub(super) const WORKTREES_AND_SUBMODULES: &[Row] = &[
    row(
        "worktree add",
        "",
        "git worktree add -q ../linked side; rm m.md",
        "@../linked sigma s.md",
        "mango m.md",
    ),
    row(
        "worktree add, inside",
        "",
        "git worktree add -q in/side side; rm m.md",
        "@in/side sigma s.md",
        "mango m.md",
    ),
    row(
        "worktree add --no-checkout",
        "git worktree add -q --no-checkout ../linked side",
        "cd ../linked; echo fig > f.md",
        "@../linked fig f.md",
        "@../linked sigma ",
    ),
    row(
        "commit in a worktree",
        "git worktree add -q --detach ../linked side",
        "cd ../linked; echo fig > s.md; git commit -qam x",
        "@../linked fig s.md",
        "@../linked sigma s.md",
    ),
    row(
        "worktree move",
        "git worktree add -q ../linked side",
        "git worktree move ../linked ../moved; rm ../moved/s.md; echo fig > ../moved/f.md",
        "@../moved fig f.md",
        "@../linked sigma s.md",
    ),
    row(
        "worktree remove",
        "git worktree add -q in/side side",
        "git worktree remove in/side; echo fig > a.md",
        "fig a.md",
        "apricot a.md",
    ),
    row(
        "worktree prune",
        "git worktree add -q ../linked side; rm -rf ../linked",
        "git worktree prune; echo fig > a.md",
        "fig a.md",
        "apricot a.md",
    ),
    row(
        "submodule add",
        "mkdir lib; echo fig > lib/f.md",
        "rm -r lib; git -c protocol.file.allow=always submodule --quiet add ../lib lib; echo grape > a.md",
        "grape a.md",
        "fig lib/f.md",
    ),
    row(
        "submodule update",
        "git -c protocol.file.allow=always submodule --quiet add ../lib lib; git commit -qm x
         git submodule --quiet deinit -f lib; mkdir -p lib",
        "git -c protocol.file.allow=always submodule --quiet update --init lib; echo fig > a.md",
        "fig a.md",
        "apricot a.md",
    ),
    row(
        "submodule deinit",
        "git -c protocol.file.allow=always submodule --quiet add ../lib lib; git commit -qm x",
        "git submodule --quiet deinit -f lib; echo fig > a.md",
        "fig a.md",
        "apricot a.md",
    ),
];
