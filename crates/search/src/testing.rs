//! Runs FTS5 on streams and expressions, for tests.

use rusqlite::Connection;

/// A contentless FTS5 table, to compare our BM25 with.
pub(crate) struct Fts(Connection);

/// Returns a table with one row a stream, row ids from 1 on.
pub(crate) fn fts_with(streams: &[&str]) -> Fts {
    let db = Connection::open_in_memory().expect("memory is there");
    let schema = "CREATE VIRTUAL TABLE words USING fts5(body, content='', tokenize='ascii');
         CREATE VIRTUAL TABLE instances USING fts5vocab(words, instance);";
    db.execute_batch(schema).expect("the schema is valid");
    for (nth, stream) in streams.iter().enumerate() {
        db.execute("INSERT INTO words(rowid, body) VALUES (?1, ?2)", (nth as i64 + 1, stream))
            .expect("a stream can be inserted");
    }
    Fts(db)
}

/// Returns a table of symbol, title and body, row ids from 1 on.
pub(crate) fn fts_of_chunks(rows: &[[String; 3]]) -> Fts {
    let db = Connection::open_in_memory().expect("memory is there");
    let schema = "CREATE VIRTUAL TABLE words USING fts5(symbol, title, body, content='', tokenize='ascii');";
    db.execute_batch(schema).expect("the schema is valid");
    for (nth, [symbol, title, body]) in rows.iter().enumerate() {
        let sql = "INSERT INTO words(rowid, symbol, title, body) VALUES (?1, ?2, ?3, ?4)";
        db.execute(sql, (nth as i64 + 1, symbol, title, body)).expect("a row can be inserted");
    }
    Fts(db)
}

impl Fts {
    /// Returns the matching row ids, ascending, with FTS5's BM25: smaller is better.
    pub(crate) fn bm25(&self, expression: &str) -> Vec<(i64, f64)> {
        let sql = "SELECT rowid, bm25(words, 4, 2, 1) FROM words WHERE words MATCH ?1 ORDER BY rowid";
        let mut statement = self.0.prepare(sql).expect("the table is there");
        let rows = statement.query_map([expression], |row| Ok((row.get(0)?, row.get(1)?)));
        rows.expect("it can be read").map(|row| row.expect("a number")).collect()
    }

    /// Returns the matching row ids, best first and then ascending, with their BM25: larger is better.
    pub(crate) fn ranked(&self, expression: &str) -> Vec<(i64, f64)> {
        let sql =
            "SELECT rowid, -bm25(words) AS score FROM words WHERE words MATCH ?1 ORDER BY score DESC, rowid";
        let mut statement = self.0.prepare(sql).expect("the table is there");
        let rows = statement.query_map([expression], |row| Ok((row.get(0)?, row.get(1)?)));
        rows.expect("it can be read").map(|row| row.expect("a number")).collect()
    }

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

#[cfg(test)]
mod tests {
    use memod_testing::{RandomNumbers, random_hostile_text};
    use memod_text::stems::add_stems;
    use memod_text::words::{MAX_TOKEN_BYTES, write_index_words};

    use super::*;

    /// Checks the assumptions of FTS5 for any text.
    #[test]
    fn fts5_splits_at_the_spaces_and_nowhere_else() {
        let mut random = RandomNumbers::new(1);
        let mut texts: Vec<String> = (0..300).map(|_| random_hostile_text(&mut random, 80)).collect();
        texts.push("getUserById".repeat(1_000));
        texts.push("getUserById 日本語処 Größe İ ﬁ".to_owned());
        for text in texts {
            let mut stream = String::new();
            write_index_words(&text, &mut stream);
            let tokens: Vec<&str> = stream.split(' ').filter(|_| !stream.is_empty()).collect();
            let is_good = |token: &&str| !token.is_empty() && token.len() <= MAX_TOKEN_BYTES;
            assert!(tokens.iter().all(is_good), "{text:?}");
            assert!(!stream.contains(char::is_control), "{text:?}");
            assert_eq!(fts_with(&[&stream]).tokens(), tokens, "{text:?}");
        }
    }

    #[test]
    fn a_stem_is_one_token() {
        let mut stream = "hashed passwords sha256".to_owned();
        add_stems(&mut stream);
        assert_eq!(fts_with(&[&stream]).tokens(), stream.split(' ').collect::<Vec<_>>());
    }
}
