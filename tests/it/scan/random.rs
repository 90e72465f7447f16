//! Do random rules on random trees mean to us what they mean to git?

use super::fixture::{Fixture, agree};

/// Each costs some ten git processes.
const SEEDS: u64 = 40;

/// xorshift64*, so that a failing seed fails again: Vigna, "An experimental exploration of Marsaglia's xorshift
/// generators, scrambled", ACM TOMS 42 (2016).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let scrambled = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(scrambled).unwrap() % limit
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }

    fn path(&mut self) -> String {
        let depth = 1 + self.below(4);
        let parts: Vec<&str> = (0..depth).map(|_| self.pick(&["a", "b", "ab", "c.x", "A", "a b"])).collect();
        // The ending keeps files and directories apart.
        format!("{}.{}", parts.join("/"), self.pick(&["f", "x", "log"]))
    }

    fn pattern(&mut self) -> String {
        let mut pattern = self.pick(&["", "", "", "!", "!", "\\!", "#"]).to_owned();
        pattern += self.pick(&["", "", "/"]);
        for _ in 0..=self.below(3) {
            let pieces = [
                "a", "b", "*", "**", "?", "a*", "*.x", "*.log", "[ab]", "[!a]", "[^b]*", "c.x", "a\\ b",
                "\\*", "a b",
            ];
            pattern += self.pick(&pieces);
            pattern += self.pick(&["/", "/", "", "/**", "/**/"]);
        }
        pattern += self.pick(&["", "", "", "/", "  ", "\\ ", "\t", "\r", ".f", ".*"]);
        pattern
    }

    fn rules(&mut self) -> String {
        (0..=self.below(5)).map(|_| self.pattern() + "\n").collect()
    }
}

fn build(seed: u64) -> Fixture {
    let mut random = Random(seed);
    let f = Fixture::new();
    for _ in 0..30 {
        let path = random.path();
        f.write(&path, "x");
    }
    match random.below(4) {
        // Not both: where letters' case does not matter, two names that differ in it cannot both be there.
        0 => drop(f.git(&["config", "core.ignoreCase", "true"])),
        1 | 2 => {
            let tracked: Vec<String> = (0..4).map(|_| random.path()).collect();
            for path in &tracked {
                f.write(path, "x");
                f.git(&["add", "-f", path]);
            }
        }
        _ => {}
    }
    f.write_home(".config/git/ignore", &random.rules());
    f.write(".git/info/exclude", &random.rules());
    for ignore_file in [".gitignore", "a/.gitignore", "a/b/.gitignore", "ab/.gitignore"] {
        if random.below(2) == 0 {
            f.write(ignore_file, &random.rules());
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
