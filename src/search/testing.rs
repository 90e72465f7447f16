//! What do the tests of this directory share?

use rusqlite::Connection;

use crate::extract::words::FTS_TOKENIZER;

/// A small generator of pseudo-random numbers, so that a failure comes again.
///
/// Multiplier and increment: Knuth, MMIX; see Steele and Vigna, "Computationally easy, spectrally good
/// multipliers", 2021.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len())]
    }
}

/// Returns up to `max_pieces` pieces of syntax, names, odd Unicode and random characters.
pub(crate) fn hostile_text(random: &mut Random, max_pieces: usize) -> String {
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

/// A contentless FTS5 table as the store keeps it.
pub(crate) struct Fts(Connection);

/// Returns a table with one row a stream, row ids from 1 on.
pub(crate) fn fts_with(streams: &[&str]) -> Fts {
    let db = Connection::open_in_memory().expect("memory is there");
    let schema = format!(
        "CREATE VIRTUAL TABLE words USING fts5(body, content='', tokenize=\"{FTS_TOKENIZER}\");
         CREATE VIRTUAL TABLE instances USING fts5vocab(words, instance);"
    );
    db.execute_batch(&schema).expect("the schema is valid");
    for (nth, stream) in streams.iter().enumerate() {
        db.execute("INSERT INTO words(rowid, body) VALUES (?1, ?2)", (nth as i64 + 1, stream))
            .expect("a stream can be inserted");
    }
    Fts(db)
}

impl Fts {
    /// Returns all tokens in their order.
    pub(crate) fn tokens(&self) -> Vec<String> {
        let mut statement =
            self.0.prepare("SELECT term FROM instances ORDER BY doc, offset").expect("the table is there");
        let rows = statement.query_map([], |row| row.get(0)).expect("it can be read");
        rows.map(|row| row.expect("terms are text")).collect()
    }

    /// Returns the matching row ids, ascending.
    pub(crate) fn search(&self, expression: &str) -> rusqlite::Result<Vec<i64>> {
        let mut statement = self.0.prepare("SELECT rowid FROM words WHERE words MATCH ?1 ORDER BY rowid")?;
        statement.query_map([expression], |row| row.get(0))?.collect()
    }
}
