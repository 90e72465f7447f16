//! Does a search see at once what git, or a rule of what git lists, has changed?

use std::fs;

use crate::live::{Live, word};

/// Runs a shell script in the worktree for each step, and then compares who shows the words of that step.
///
/// A step is `script | word paths | word paths …`.
fn check(what: &str, steps: &str) {
    let live = Live::new();
    for step in steps.lines().map(str::trim).filter(|step| !step.is_empty()) {
        let mut parts = step.split(" | ");
        let script = parts.next().unwrap();
        live.sh(script);
        for part in parts {
            let (word, paths) = part.split_once(' ').unwrap_or((part, ""));
            live.expect(word, paths, &format!("{what}: {script}"));
        }
    }
}

#[test]
fn ignore_rules() {
    check(
        ".gitignore",
        "echo alpha > a.txt; echo beta > b.md | alpha a.txt | beta b.md
         echo '*.txt' > .gitignore | alpha | beta b.md
         echo '!a.txt' >> .gitignore | alpha a.txt
         rm .gitignore; echo gamma > c.txt | alpha a.txt | gamma c.txt
         mkdir -p s/t; echo delta > s/t/d.txt; echo '*.txt' > s/.gitignore | delta | alpha a.txt
         mv s/.gitignore s/t/x | delta s/t/d.txt
         echo 's/' > .gitignore | delta
         echo epsilon > s/e.txt | epsilon
         rm .gitignore | delta s/t/d.txt | epsilon s/e.txt",
    );
    check(
        "info/exclude",
        "echo alpha > a.txt | alpha a.txt
         mkdir -p .git/info; echo 'a.*' > .git/info/exclude | alpha
         : > .git/info/exclude | alpha a.txt",
    );
    check(
        ".memoignore",
        "echo alpha > a.txt; git add a.txt | alpha a.txt
         echo 'a.txt' > .memoignore | alpha
         rm .memoignore | alpha a.txt",
    );
    check(
        "settings",
        "echo alpha > a.txt; echo a.txt > ../excludes | alpha a.txt
         git config core.excludesFile ../excludes | alpha
         git config --unset core.excludesFile | alpha a.txt",
    );
    check(
        "the user's own",
        "echo alpha > a.txt; mkdir -p ~/.config/git | alpha a.txt
         echo 'a.*' > ~/.config/git/ignore | alpha
         echo 'b.*' > ~/.config/git/ignore | alpha a.txt
         rm ~/.config/git/ignore; echo a.txt > ~/mine; git config --global core.excludesFile ~/mine | alpha
         echo '#' > ~/mine | alpha a.txt
         echo 'a*' > ~/mine | alpha
         git config --global --unset core.excludesFile | alpha a.txt",
    );
    check(
        "the user's own excludes",
        "echo alpha > a.txt; : > ../excludes; git config core.excludesFile ../excludes | alpha a.txt
         echo a.txt > ../excludes | alpha
         : > ../excludes | alpha a.txt",
    );
    check(
        "excludes in a directory that is made later",
        "echo alpha > a.txt; git config core.excludesFile ../later/excludes | alpha a.txt
         mkdir ../later; echo a.txt > ../later/excludes | alpha
         rm -r ../later | alpha a.txt",
    );
    check(
        "settings that are included",
        "echo alpha > a.txt; echo a.txt > ../excludes; git config -f ../more user.name t | alpha a.txt
         git config include.path ../../more | alpha a.txt
         git config -f ../more core.excludesFile ../excludes | alpha
         git config -f ../more --unset core.excludesFile | alpha a.txt",
    );
    check(
        "settings that are included before they exist",
        "echo alpha > a.txt; echo a.txt > ../excludes; git config --global include.path '~/more' | alpha a.txt
         git config -f ~/more core.excludesFile ../excludes | alpha
         : > ~/more | alpha a.txt
         git config -f ~/more core.excludesFile ../excludes | alpha",
    );
    check(
        "rules of one size and time",
        "echo alpha > a.txt; mkdir -p ~/one ~/two; echo 'a.*' > ~/one/x; echo 'b.*' > ~/two/x | alpha a.txt
         touch -d '2020-01-01' ~/one/x ~/two/x; ln -s one ~/now; git config --global core.excludesFile '~/now/x' | alpha
         ln -sfn two ~/now | alpha a.txt
         ln -sfn one ~/now | alpha",
    );
}

#[test]
fn what_git_tracks() {
    check(
        "add -f and rm --cached",
        "echo '*.log' > .gitignore; echo alpha > a.log | alpha
         git add -f a.log | alpha a.log
         git rm -q --cached a.log | alpha
         git add -f a.log; git commit -qm x | alpha a.log
         git rm -q a.log | alpha
         mkdir out; echo out > .gitignore; echo beta > out/b.txt | beta
         git add -f out/b.txt | beta out/b.txt
         echo gamma > out/c.txt; echo beta2 >> out/b.txt | gamma | beta2 out/b.txt",
    );
    check(
        "mv, rm, clean, reset, restore",
        "echo alpha > a.txt; git add -A; git commit -qm x | alpha a.txt
         git mv a.txt b.txt | alpha b.txt
         git reset -q --hard | alpha a.txt
         echo beta > a.txt; mkdir n; echo gamma > n/c.txt | alpha | beta a.txt | gamma n/c.txt
         git clean -qfd | gamma | beta a.txt
         git restore a.txt | beta | alpha a.txt
         git rm -q a.txt | alpha
         git checkout -q HEAD -- a.txt | alpha a.txt",
    );
    check(
        "stash",
        "echo alpha > a.txt; git add -A; git commit -qm x | alpha a.txt
         echo beta > a.txt; echo gamma > c.txt | beta a.txt | gamma c.txt | alpha
         git stash -q | alpha a.txt | beta | gamma c.txt
         git stash pop -q | beta a.txt | alpha
         git stash -qu | alpha a.txt | beta | gamma
         git stash pop -q | beta a.txt | gamma c.txt",
    );
    check(
        "merge and rebase",
        "echo alpha > a.txt; git add -A; git commit -qm x | alpha a.txt
         git checkout -qb side; echo beta > b.txt; git add -A; git commit -qm y | beta b.txt
         git checkout -q main; echo gamma > c.txt; git add -A; git commit -qm z | beta | gamma c.txt
         git merge -q side -m m | beta b.txt | gamma c.txt
         git reset -q --hard HEAD~1 | beta | gamma c.txt
         git rebase -q side | beta b.txt | gamma c.txt",
    );
}

#[test]
fn a_branch_with_two_hundred_other_files() {
    let live = Live::new();
    let path = |number: usize| format!("d{}/f{number}.md", number % 10);
    let fill = |first: usize| (0..200).for_each(|number| live.write(&path(number), word(first + number)));
    fill(0);
    live.commit_all();
    live.git(&["checkout", "-qb", "other"]);
    fill(1_000);
    fs::write(live.root().join("only.md"), word(9_999)).unwrap();
    live.commit_all();
    let mut parses = None;
    for _ in 0..2 {
        for (branch, here, gone) in [("main", 0, 1_000), ("other", 1_000, 0)] {
            live.git(&["checkout", "-q", branch]);
            for number in [0, 1, 57, 123, 198, 199] {
                live.expect(&word(here + number), &path(number), branch);
                live.expect(&word(gone + number), "", branch);
            }
            live.expect(&word(9_999), if branch == "other" { "only.md" } else { "" }, branch);
        }
        let now = live.counter("parses");
        assert_eq!(parses.replace(now).unwrap_or(now), now, "what was seen before is not parsed again");
    }
}
