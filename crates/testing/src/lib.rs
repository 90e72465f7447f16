//! Generates random texts for the unit tests of all crates, and reports checks that cannot run on this machine.

/// A small generator of pseudo-random numbers, which makes failures reproducible.
///
/// Multiplier and increment: Knuth, MMIX; see Steele and Vigna, "Computationally easy, spectrally good
/// multipliers", 2021.
pub struct RandomNumbers(u64);

impl RandomNumbers {
    /// Creates a generator that returns the same numbers for the same seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `end`; 0 if `end` is 0.
    pub fn number_below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }

    /// Returns one of the items.
    pub fn pick_item<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.number_below(items.len())]
    }
}

/// Returns a text of at most `max_pieces` pieces: syntax of queries, names, unusual Unicode and random characters.
pub fn random_hostile_text(random: &mut RandomNumbers, max_pieces: usize) -> String {
    const PIECES: [&str; 48] = [
        "\"",
        "'",
        "*",
        "(",
        ")",
        "()",
        " ",
        " ",
        " ",
        "\n",
        "\t",
        "AND",
        " AND ",
        " OR ",
        " NOT ",
        "NEAR(",
        "^",
        ":",
        "-",
        "+",
        "{",
        "}",
        "\\",
        "%",
        "\0",
        "_",
        "getUserById",
        "max_retry",
        "HTTPServer2",
        "Session::login",
        "foo()",
        "the",
        "a",
        "x*",
        "\"a b\"",
        "日本語処理",
        "한국어",
        "e\u{301}",
        "\u{301}\u{301}",
        "💥",
        "👩\u{200d}👧",
        "ﬁ",
        "İ",
        "ß",
        "ς",
        "\u{feff}",
        "\u{202e}",
        "body:",
    ];
    let n_pieces = random.number_below(max_pieces + 1);
    let mut text = String::new();
    for _ in 0..n_pieces {
        if random.number_below(4) == 0 {
            text.extend(char::from_u32(random.number_below(0x2_ffff) as u32));
        } else {
            text.push_str(random.pick_item(&PIECES));
        }
    }
    text
}

/// Reports a check that cannot run on this machine. Does not use `eprintln!`, whose output the harness hides if the test passes.
#[cfg(windows)]
pub fn not_checked(what: &str) {
    use std::io::Write as _;
    writeln!(std::io::stderr(), "NOT CHECKED: {what}").expect("standard error is open");
}
