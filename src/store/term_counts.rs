//! Adds the FTS5 function `term_counts(table, weight…)`: how often each phrase of the query is in the row.
//!
//! FTS5's `bm25` takes about 1 µs for each matching row, most of it to merge the positions of all phrases and to look up the
//! length of the row. This one only counts, in 0.3 µs; search/bm25.rs weighs the counts.

use std::ffi::{c_int, c_void};
use std::ptr;

use rusqlite::{Connection, ffi};

/// Most phrases of a query; the query language allows fewer.
const MOST_PHRASES: usize = 128;

/// Registers the function with a connection. Its result is a blob of one byte for each phrase: the sum of the weights of the
/// columns that it occurs in, once for each occurrence, at most 255.
///
/// # Errors
/// When FTS5 is not there, or there is no memory.
#[expect(unsafe_code, reason = "rusqlite has no safe way to register functions of FTS5")]
pub(super) fn register(conn: &Connection) -> rusqlite::Result<()> {
    let mut api: *mut ffi::fts5_api = ptr::null_mut();
    // SAFETY: the way that <https://www.sqlite.org/fts5.html#extending_fts5> describes. The statement lives in between, the
    // pointer is only written while it steps, and the API lives as long as the connection.
    let code = unsafe {
        let mut statement = ptr::null_mut();
        let sql = c"SELECT fts5(?1)";
        let mut code =
            ffi::sqlite3_prepare_v2(conn.handle(), sql.as_ptr(), -1, &raw mut statement, ptr::null_mut());
        if code == ffi::SQLITE_OK {
            let name = c"fts5_api_ptr";
            ffi::sqlite3_bind_pointer(statement, 1, (&raw mut api).cast(), name.as_ptr(), None);
            ffi::sqlite3_step(statement);
            code = ffi::sqlite3_finalize(statement);
        }
        match api.as_ref().and_then(|api| api.xCreateFunction) {
            Some(create) if code == ffi::SQLITE_OK => {
                create(api, c"term_counts".as_ptr(), ptr::null_mut(), Some(term_counts), None)
            }
            _ => code.max(ffi::SQLITE_ERROR),
        }
    };
    match code {
        ffi::SQLITE_OK => Ok(()),
        code => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)),
    }
}

/// Called by FTS5 for each row.
#[expect(unsafe_code, reason = "a callback of C")]
unsafe extern "C" fn term_counts(
    api: *const ffi::Fts5ExtensionApi,
    fts: *mut ffi::Fts5Context,
    context: *mut ffi::sqlite3_context,
    n_weights: c_int,
    weights: *mut *mut ffi::sqlite3_value,
) {
    let mut counts = [0_u8; MOST_PHRASES];
    // SAFETY: FTS5 passes its own API and the context of the current row, and `n_weights` values.
    unsafe {
        let weight = |column: c_int| match usize::try_from(column) {
            Ok(nth) if column < n_weights => ffi::sqlite3_value_int(*weights.add(nth)).clamp(0, 255) as u8,
            _ => 1,
        };
        let n_phrases = count(&*api, fts, weight, &mut counts);
        let bytes: *const c_void = counts.as_ptr().cast();
        ffi::sqlite3_result_blob(context, bytes, n_phrases as c_int, ffi::SQLITE_TRANSIENT());
    }
}

/// Counts the phrases of the current row; returns how many there are.
///
/// # Safety
/// `fts` must be the context that FTS5 has called a function with, and `api` its API.
#[expect(unsafe_code, reason = "calls functions of C")]
unsafe fn count(
    api: &ffi::Fts5ExtensionApi,
    fts: *mut ffi::Fts5Context,
    weight: impl Fn(c_int) -> u8,
    counts: &mut [u8; MOST_PHRASES],
) -> usize {
    let (Some(n_phrases), Some(first), Some(next)) = (api.xPhraseCount, api.xPhraseFirst, api.xPhraseNext)
    else {
        return 0;
    };
    // SAFETY: as for this function; the iterator is written by `first` before `next` reads it.
    unsafe {
        let n_phrases = (n_phrases(fts).max(0) as usize).min(MOST_PHRASES);
        for (phrase, count) in (0..).zip(&mut counts[..n_phrases]) {
            let mut place = ffi::Fts5PhraseIter { a: ptr::null(), b: ptr::null() };
            let (mut column, mut offset) = (-1, 0);
            first(fts, phrase, &raw mut place, &raw mut column, &raw mut offset);
            while column >= 0 {
                *count = count.saturating_add(weight(column));
                next(fts, &raw mut place, &raw mut column, &raw mut offset);
            }
        }
        n_phrases
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_counted_by_the_weight_of_their_column() {
        let conn = Connection::open_in_memory().unwrap();
        register(&conn).unwrap();
        conn.execute_batch(
            "CREATE VIRTUAL TABLE t USING fts5(title, body, content='', tokenize='ascii');
             INSERT INTO t(rowid, title, body) VALUES (1, 'red fox', 'a red red fox ran'), (2, 'hen', 'red hen'), (3, 'x', 'y');",
        )
        .unwrap();
        let counts = |query: &str, weights: &str| -> Vec<(i64, Vec<u8>)> {
            let sql = format!("SELECT rowid, term_counts(t{weights}) FROM t WHERE t MATCH ?1 ORDER BY rowid");
            let mut statement = conn.prepare(&sql).unwrap();
            let rows = statement.query_map([query], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            rows.map(Result::unwrap).collect()
        };
        assert_eq!(counts("red OR hen", ""), [(1, vec![3, 0]), (2, vec![1, 2])]);
        assert_eq!(counts("red OR hen", ", 4, 1"), [(1, vec![6, 0]), (2, vec![1, 5])]);
        assert_eq!(counts("\"red fox\" OR ran", ""), [(1, vec![2, 1])]);
        assert_eq!(counts("nothing", ""), []);
        let many = format!("{}red", "red ".repeat(400));
        conn.execute("INSERT INTO t(rowid, title, body) VALUES (4, '', ?1)", [many]).unwrap();
        assert_eq!(counts("red", ", 4, 1")[2], (4, vec![255]));
    }
}
