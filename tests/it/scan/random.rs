//! Do random rules on random trees mean to us what they mean to git?

use super::fixture::{Fixture, agree};
use crate::random::Random;

/// Each costs some ten git processes.
const SEEDS: u64 = 40;

/// Makes paths and rules.
struct Names(Random);

impl Names {
    fn path(&mut self) -> String {
        let depth = 1 + self.0.below(4);
        let parts: Vec<&str> =
            (0..depth).map(|_| self.0.pick(&["a", "b", "ab", "c.x", "A", "a b"])).collect();
        // The ending keeps files and directories apart.
        format!("{}.{}", parts.join("/"), self.0.pick(&["f", "x", "log"]))
    }

    fn pattern(&mut self) -> String {
        let mut pattern = self.0.pick(&["", "", "", "!", "!", "\\!", "#"]).to_owned();
        pattern += self.0.pick(&["", "", "/"]);
        for _ in 0..=self.0.below(3) {
            let pieces = [
                "a", "b", "*", "**", "?", "a*", "*.x", "*.log", "[ab]", "[!a]", "[^b]*", "c.x", "a\\ b",
                "\\*", "a b",
            ];
            pattern += self.0.pick(&pieces);
            pattern += self.0.pick(&["/", "/", "", "/**", "/**/"]);
        }
        pattern += self.0.pick(&["", "", "", "/", "  ", "\\ ", "\t", "\r", ".f", ".*"]);
        pattern
    }

    fn rules(&mut self) -> String {
        (0..=self.0.below(5)).map(|_| self.pattern() + "\n").collect()
    }
}

fn build(seed: u64) -> Fixture {
    let mut names = Names(Random(seed));
    let f = Fixture::new();
    for _ in 0..30 {
        let path = names.path();
        f.write(&path, "x");
    }
    match names.0.below(4) {
        // Not both: where letters' case does not matter, two names that differ in it cannot both be there.
        0 => drop(f.git(&["config", "core.ignoreCase", "true"])),
        1 | 2 => {
            let tracked: Vec<String> = (0..4).map(|_| names.path()).collect();
            for path in &tracked {
                f.write(path, "x");
                f.git(&["add", "-f", path]);
            }
        }
        _ => {}
    }
    f.write_home(".config/git/ignore", &names.rules());
    f.write(".git/info/exclude", &names.rules());
    for ignore_file in [".gitignore", "a/.gitignore", "a/b/.gitignore", "ab/.gitignore"] {
        if names.0.below(2) == 0 {
            f.write(ignore_file, &names.rules());
        }
    }
    f
}

#[test]
fn random_rules_mean_what_they_mean_to_git() {
    for seed in 1..=SEEDS {
        let f = build(seed);
        agree(&format!("seed {seed}"), &f, &f.root, &[]);
    }
}
