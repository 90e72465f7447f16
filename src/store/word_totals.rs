//! Recounts the rows and words of the full-text table of paths.
//!
//! FTS5 does not take a deleted row out of the totals of a contentless table: `fts5StorageContentlessDelete` in
//! `sqlite3.c` leaves `nTotalRow` and `aTotalSize` as they were. BM25 divides by both, so without a recount the same
//! texts would rank differently after each edit.

use rusqlite::{Transaction, params};

use super::StoreError;
use super::writer::Writer;

impl Writer {
    /// Sets the totals of the table to the sums of its rows.
    ///
    /// Runs in its own transaction: one that also writes the table would overwrite the new totals with old ones.
    ///
    /// # Errors
    /// When the database cannot be written; the old totals are still there then.
    pub(super) fn recount_words(&mut self) -> Result<(), StoreError> {
        self.in_tx(recount)
    }
}

fn recount(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    let (mut n_rows, mut n_words) = (0, 0);
    let mut statement = tx.prepare("SELECT sz FROM path_fts_docsize")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        n_rows += 1;
        n_words += take_varint(&mut row.get_ref(0)?.as_blob()?);
    }
    let mut block = Vec::new();
    [n_rows, n_words].iter().for_each(|total| put_varint(&mut block, *total));
    // 1 is `FTS5_AVERAGES_ROWID`: rows, then words of each column.
    tx.execute("UPDATE path_fts_data SET block = ?1 WHERE id = 1", params![block]).map(drop)
}

/// Reads a varint from the front: seven bits per byte, the highest first
/// (<https://www.sqlite.org/fileformat2.html#varint>). No size reaches the ninth byte, which has eight bits.
fn take_varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    while let Some((first, rest)) = bytes.split_first() {
        *bytes = rest;
        value = value << 7 | u64::from(first & 0x7f);
        if first & 0x80 == 0 {
            break;
        }
    }
    value
}

fn put_varint(bytes: &mut Vec<u8>, value: u64) {
    let n_more = (63 - (value | 1).leading_zeros()) / 7;
    for place in (0..=n_more).rev() {
        let more = if place == 0 { 0 } else { 0x80 };
        bytes.push(more | (value >> (7 * place)) as u8 & 0x7f);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_come_back() {
        for value in [0, 1, 127, 128, 16_383, 16_384, 2_097_152, 1 << 40] {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, value);
            let mut rest = bytes.as_slice();
            assert_eq!((take_varint(&mut rest), rest.len()), (value, 0));
        }
    }
}
