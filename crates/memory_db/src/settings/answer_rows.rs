//! Stores the answers to named requests for a while, so that a repeated request gets the same answer.

use memod_database::DatabaseError;
use rusqlite::{OptionalExtension, params};
use serde_json::Value;

use crate::access::row_access::row_handle;

/// Time for which the answer to a named request is stored, ms; much longer than any client retries.
const REQUEST_MS: i64 = 3_600_000;

row_handle! {
    /// Answers to named requests.
    pub struct AnswerRows {}
}

/// The state of a named request.
#[derive(Debug)]
pub enum EarlierRequest {
    /// No request with this name was answered.
    None,
    /// The same request was answered before, with this answer.
    Same(Value),
    /// Another request with this name was answered.
    Other,
}

impl AnswerRows<'_> {
    /// Returns whether a request with this name was answered before; `digest` is the hash of the request's method and params.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_earlier_request(
        &self,
        name: &str,
        digest: &[u8; 32],
    ) -> Result<EarlierRequest, DatabaseError> {
        let stored: Option<(String, Option<[u8; 32]>)> = self.access.run(|conn| {
            conn.prepare_cached("SELECT answer, digest FROM request WHERE name = ?1")?
                .query_row([name], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
        })?;
        Ok(match stored {
            None => EarlierRequest::None,
            Some((_, Some(other))) if other != *digest => EarlierRequest::Other,
            Some((answer, _)) => EarlierRequest::Same(serde_json::from_str(&answer).unwrap_or_default()),
        })
    }

    /// Stores the answer to a named request, and deletes answers that are too old.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn store_answer(&self, name: &str, digest: &[u8; 32], answer: &Value) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached("DELETE FROM request WHERE at < ?1")?
                .execute([self.access.now_ms() - REQUEST_MS])?;
            conn.prepare_cached("INSERT INTO request(name, at, answer, digest) VALUES(?1, ?2, ?3, ?4)")?
                .execute(params![name, self.access.now_ms(), answer.to_string(), digest])?;
            Ok(())
        })
    }

    /// Deletes all stored answers, because they quote memories.
    pub(crate) fn forget_answers(&self) -> Result<(), DatabaseError> {
        self.access.run(|conn| conn.execute("DELETE FROM request", []).map(drop))
    }
}
