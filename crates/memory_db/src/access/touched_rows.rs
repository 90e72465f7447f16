//! Collects which rows a connection writes.

use std::mem::take;
use std::sync::{Arc, Mutex};

use memod_base::threads::lock;
use rusqlite::Connection;
use rusqlite::hooks::Action;

/// Numbers of the rows of `memory` that were written since the last [`Self::take_rows`], also by transactions that were rolled
/// back.
#[derive(Clone, Default)]
pub(crate) struct TouchedRows(Arc<Mutex<Vec<i64>>>);

impl TouchedRows {
    /// Records every row of `memory` that `conn` writes from now on, and in `added` every new row of `history`. One hook does
    /// both, because a connection has only one.
    pub(crate) fn watch_writes(&self, conn: &Connection, added: &AddedHistory) -> rusqlite::Result<()> {
        let (rows, added) = (Arc::clone(&self.0), added.clone());
        conn.update_hook(Some(move |action, _: &str, table: &str, row| match (table, action) {
            ("memory", _) => lock(&rows).push(row),
            ("history", Action::SQLITE_INSERT) => added.add(row),
            _ => {}
        }))
    }

    /// Adds rows of memories whose vectors alone were written, because the hook does not see these writes.
    pub(crate) fn add(&self, rows: &[i64]) {
        lock(&self.0).extend(rows);
    }

    /// Returns the row numbers, sorted and without duplicates.
    pub(crate) fn row_numbers(&self) -> Vec<i64> {
        sort_and_dedup(lock(&self.0).clone())
    }

    /// Removes the row numbers and returns them, sorted and without duplicates.
    pub(crate) fn take_rows(&self) -> Vec<i64> {
        sort_and_dedup(std::mem::take(&mut *lock(&self.0)))
    }
}

/// Rows that the current transaction has added to `history`; `None` while changes are not watched.
#[derive(Clone, Default)]
pub(crate) struct AddedHistory(Arc<Mutex<Option<Vec<i64>>>>);

impl AddedHistory {
    /// Starts or stops collecting the rows.
    pub(crate) fn set_collecting(&self, collects: bool) {
        let mut rows = lock(&self.0);
        if rows.is_some() != collects {
            *rows = collects.then(Vec::new);
        }
    }

    /// Adds a row, if rows are collected.
    pub(crate) fn add(&self, row: i64) {
        if let Some(rows) = lock(&self.0).as_mut() {
            rows.push(row);
        }
    }

    /// Removes the rows and returns them; `None` while changes are not watched.
    pub(crate) fn take_rows(&self) -> Option<Vec<i64>> {
        lock(&self.0).as_mut().map(take)
    }
}

fn sort_and_dedup(mut rows: Vec<i64>) -> Vec<i64> {
    rows.sort_unstable();
    rows.dedup();
    rows
}
