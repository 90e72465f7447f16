//! Migrates a database to the newest schema, and refuses databases of other programs and of newer versions of memod.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::{Connection, Error, ErrorCode, OpenFlags};
use rusqlite_migration::{M, Migrations};

use crate::DatabaseError;
use crate::connection::{corruption_error, open_without_waiting};

/// Migrates a database to the newest of these schemas, one string per version.
///
/// # Errors
/// When the schema is newer than `versions`, the database is not memod's, or a migration fails. The schema is unchanged then.
pub fn migrate_schema(conn: &mut Connection, path: &Path, versions: &[&str]) -> Result<(), DatabaseError> {
    let found = read_version(conn).map_err(|error| DatabaseError::from_sqlite(path, error))?;
    check_not_newer(path, found, versions)?;
    check_is_memod_database(conn, found).map_err(|error| DatabaseError::from_sqlite(path, error))?;
    let migrations = Migrations::new(versions.iter().map(|sql| M::up(sql)).collect());
    migrations.to_latest(conn).map_err(|error| match error {
        rusqlite_migration::Error::RusqliteError { err, .. } => {
            DatabaseError::from_sqlite(path, explain_mismatch(err, found))
        }
        other => DatabaseError::Sqlite {
            path: path.to_owned(),
            source: rusqlite::Error::ToSqlConversionFailure(Box::new(other)),
        },
    })
}

/// Returns the version of a database's schema, SQLite's `user_version`; 0 for a new database.
pub fn read_version(conn: &Connection) -> rusqlite::Result<i64> {
    conn.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Fails if the schema version `found` is newer than `versions`.
pub fn check_not_newer(path: &Path, found: i64, versions: &[&str]) -> Result<(), DatabaseError> {
    let known = versions.len() as i64;
    if found > known {
        return Err(DatabaseError::Newer { path: path.to_owned(), found, known });
    }
    Ok(())
}

/// Fails if a database lacks a table or a column of its schema, which `versions` create.
pub fn check_tables(conn: &Connection, versions: &[&str]) -> rusqlite::Result<()> {
    let model = Connection::open_in_memory()?;
    versions.iter().try_for_each(|sql| model.execute_batch(sql))?;
    let known = list_columns(conn)?;
    match list_columns(&model)?.into_iter().find(|column| !known.contains(column)) {
        None => Ok(()),
        Some(missing) => Err(corruption_error(format!("schema {} without its {missing}", versions.len()))),
    }
}

/// Returns the columns of all tables, as `table.column`.
fn list_columns(conn: &Connection) -> rusqlite::Result<BTreeSet<String>> {
    conn.prepare(
        "SELECT m.name || '.' || c.name FROM sqlite_schema m CROSS JOIN pragma_table_info(m.name) c
         WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL %'",
    )?
    .query_map([], |row| row.get(0))?
    .collect()
}

/// Returns the error of a failed migration. If the tables differ from those of the schema `version`, returns one that explains
/// this, and counts as damage.
fn explain_mismatch(error: Error, version: i64) -> Error {
    let code = match &error {
        Error::SqlInputError { error, .. } => Some(error.code),
        error => error.sqlite_error_code(),
    };
    match code {
        Some(ErrorCode::Unknown | ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch) => {
            corruption_error(format!("its tables differ from schema {version}: {}", first_line(&error)))
        }
        _ => error,
    }
}

/// Returns the first line of an error's message, without the SQL statement, which may have many lines.
fn first_line(error: &Error) -> String {
    let text = match error {
        Error::SqlInputError { msg, .. } => msg.clone(),
        error => error.to_string(),
    };
    text.lines().next().unwrap_or_default().to_owned()
}

/// Fails if a database belongs to another program, or has lost its schema version, because no migration fits its tables.
fn check_is_memod_database(conn: &Connection, version: i64) -> rusqlite::Result<()> {
    let sql = "SELECT count(*), count(*) FILTER (WHERE name = 'meta') FROM sqlite_schema
               WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'";
    match (version, conn.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?) {
        (0, (1_u64.., _)) => {
            Err(corruption_error("it has tables, but no schema version of memod".to_owned()))
        }
        (..0, _) => Err(corruption_error("its schema version is below zero".to_owned())),
        (1.., (_, 0_u64)) => {
            Err(corruption_error("it has a schema version of memod, but no tables of memod".to_owned()))
        }
        _ => Ok(()),
    }
}

/// Checks that a database, which another process may have open, has no newer schema than `versions`. An absent or damaged database
/// passes, because the daemon restores it or builds a new one.
///
/// # Errors
/// When the schema is newer, or the database cannot be read.
pub fn refuse_newer_schema(path: &Path, versions: &[&str]) -> Result<(), DatabaseError> {
    if !path.is_file() {
        return Ok(());
    }
    let read =
        open_without_waiting(path, OpenFlags::SQLITE_OPEN_READ_ONLY).and_then(|conn| read_version(&conn));
    match read.map_err(|error| DatabaseError::from_sqlite(path, error)) {
        Ok(found) => check_not_newer(path, found, versions),
        Err(DatabaseError::Corrupt { .. }) => Ok(()),
        // A daemon that had no room for the -shm file has the database locked until it ends, and knows the schema.
        Err(DatabaseError::Sqlite { source, .. })
            if source.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) =>
        {
            Ok(())
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_schema_is_refused_and_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("some.db");
        let mut conn = Connection::open(&path).unwrap();
        conn.pragma_update(None, "user_version", 99).unwrap();
        let error = migrate_schema(&mut conn, &path, &["CREATE TABLE meta(key TEXT)"]).unwrap_err();
        assert!(error.to_string().contains("newer memod (schema 99"), "{error}");
        let version: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!(version, 99);
    }
}
