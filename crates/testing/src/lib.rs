//! Helps the unit tests of all crates: random texts, and what a machine does not allow to be tested.

/// A small generator of pseudo-random numbers, so that failures are reproducible.
///
/// Multiplier and increment: Knuth, MMIX; see Steele and Vigna, "Computationally easy, spectrally good
/// multipliers", 2021.
pub struct Random(u64);

impl Random {
    /// Returns a generator that gives the same numbers for the same seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }

    /// Returns one of the items.
    pub fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len())]
    }
}

/// Returns up to `max_pieces` pieces of syntax, names, odd Unicode and random characters.
pub fn hostile_text(random: &mut Random, max_pieces: usize) -> String {
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
    let n_pieces = random.below(max_pieces + 1);
    let mut text = String::new();
    for _ in 0..n_pieces {
        if random.below(4) == 0 {
            text.extend(char::from_u32(random.below(0x2_ffff) as u32));
        } else {
            text.push_str(random.pick(&PIECES));
        }
    }
    text
}

/// Says what this machine does not allow to be tested; not with `eprintln!`, which a passing test hides.
#[cfg(windows)]
pub fn not_checked(what: &str) {
    use std::io::Write as _;
    writeln!(std::io::stderr(), "NOT CHECKED: {what}").expect("standard error is open");
}
