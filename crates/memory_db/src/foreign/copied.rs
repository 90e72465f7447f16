//! Copies a foreign database completely before it is read.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use memod_base::paths::{canonical, create_dir_in, with_suffix};
use memod_database::{DatabaseError, check_quickly, connect};
use memod_proto::{RpcError, code};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use super::table::Table;

/// Number of attempts to copy a database that is being written.
const TRIES: usize = 5;
/// Largest database, bytes.
const MOST_BYTES: u64 = 4 << 30;
/// Suffixes of its log and of its rollback journal.
const COMPANIONS: [&str; 2] = ["-wal", "-journal"];

/// The purpose of a copy, which determines its directory in the state dir.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    Import,
    Restore,
    Unite,
}

impl Purpose {
    const ALL: [Self; 3] = [Self::Import, Self::Restore, Self::Unite];

    fn copy_in(self, state_dir: &Path) -> PathBuf {
        let dir = match self {
            Self::Import => "import",
            Self::Restore => "restore",
            Self::Unite => "elsewhere",
        };
        state_dir.join(dir).join("copy.db")
    }
}

/// Removes the copies that a killed daemon has left.
pub fn remove_left_copies(state_dir: &Path) {
    for copy in Purpose::ALL.map(|purpose| purpose.copy_in(state_dir)) {
        remove(&copy);
    }
}

/// Removes a copy and its directory.
fn remove(copy: &Path) {
    for file in with_companions(copy).into_iter().chain([with_suffix(copy, "-shm")]) {
        let _ = fs::remove_file(file); // what stays goes with the next copy
    }
    let _ = copy.parent().map(fs::remove_dir);
}

/// Why a database cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ForeignError {
    /// A file cannot be read or copied.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The database is not of the expected kind.
    #[error("{}: {why}", path.display())]
    Unusable {
        /// Its path.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
        /// The remedy.
        hint: &'static str,
    },
}

impl From<ForeignError> for RpcError {
    fn from(error: ForeignError) -> Self {
        let told = Self::new(code::INVALID_PARAMS, error.to_string());
        match error {
            ForeignError::Unusable { hint, .. } => told.with_hint(hint),
            ForeignError::File { .. } => told,
        }
    }
}

/// A copy; dropping it removes its files.
pub(crate) struct Copied {
    /// Path of the original.
    path: PathBuf,
    copy: PathBuf,
}

impl Drop for Copied {
    fn drop(&mut self) {
        remove(&self.copy);
    }
}

impl Copied {
    /// Copies a database into the state dir. `ours` are files that must not be touched.
    pub(crate) fn make(
        path: &Path,
        state_dir: &Path,
        purpose: Purpose,
        ours: &[&Path],
    ) -> Result<Self, ForeignError> {
        let file = |path: &Path| {
            let path = path.to_owned();
            move |source| ForeignError::File { path, source }
        };
        let meta = fs::metadata(path).map_err(file(path))?;
        let copied = Self { path: path.to_owned(), copy: purpose.copy_in(state_dir) };
        let dir = copied.copy.parent().unwrap_or(state_dir);
        // Opening and closing our files here would drop SQLite's locks on them.
        if ours.iter().any(|own| is_same_file(own, path)) {
            return Err(
                copied.unusable("the memories of this very repository".to_owned(), "name another one")
            );
        }
        if !meta.is_file() {
            return Err(copied.unusable("not a regular file".to_owned(), "name the database itself"));
        }
        if meta.len() > MOST_BYTES {
            return Err(copied.unusable(format!("over {} GiB", MOST_BYTES >> 30), "import it in parts"));
        }
        create_dir_in(dir).map_err(file(dir))?;
        for _ in 0..TRIES {
            let before = stamps(path);
            for (from, to) in with_companions(path).into_iter().zip(with_companions(&copied.copy)) {
                let _ = fs::remove_file(&to);
                if fs::metadata(&from).is_ok_and(|meta| meta.is_file()) {
                    fs::copy(&from, &to).map_err(|error| match error.kind() {
                        ErrorKind::StorageFull => file(&to)(error),
                        _ => file(&from)(error),
                    })?;
                    make_ours(&to).map_err(file(&to))?;
                }
            }
            if stamps(path) == before {
                return Ok(copied);
            }
        }
        let why = format!("it was written to during each of {TRIES} copies");
        Err(copied.unusable(why, "try again when it is idle"))
    }

    /// Opens the copy with its log, and checks that it has these tables.
    pub(super) fn open(&self, tables: &[Table]) -> Result<Connection, ForeignError> {
        let conn = self.connect().map_err(|error| self.sqlite(error))?;
        for table in tables {
            self.check(&conn, table.name, table.needed, table.may_lack)?;
        }
        Ok(conn)
    }

    pub(super) fn connect(&self) -> rusqlite::Result<Connection> {
        let conn = connect(&self.copy, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        conn.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?;
        check_quickly(&conn)?;
        Ok(conn)
    }

    /// Returns the path of the copy.
    pub(crate) fn copy(&self) -> &Path {
        &self.copy
    }

    /// Refuses views, virtual tables and computed columns in place of a table, and tables that lack columns.
    pub(super) fn check(
        &self,
        conn: &Connection,
        table: &str,
        needed: &[&str],
        may_lack: bool,
    ) -> Result<(), ForeignError> {
        let kind = self.kind(conn, table)?;
        let other = |why: String| {
            self.unusable(why, "--from names the system that wrote it; `memo import --help` lists them")
        };
        match kind.as_deref() {
            None if may_lack => return Ok(()),
            None => return Err(other(format!("has no table {table}"))),
            Some("table") => {}
            Some(kind) => return Err(other(format!("{table} is a {kind}, not a table"))),
        }
        let columns = super::row::columns(conn, table).map_err(|error| self.sqlite(error))?;
        match needed.iter().find(|name| !columns.iter().any(|column| column == *name)) {
            Some(name) => Err(other(format!("the table {table} has no column {name}"))),
            None => Ok(()),
        }
    }

    /// Returns `table`, `view`, `virtual table`…
    fn kind(&self, conn: &Connection, name: &str) -> Result<Option<String>, ForeignError> {
        let select = "SELECT iif(sql LIKE 'CREATE VIRTUAL%', 'virtual table', type) FROM sqlite_schema
                      WHERE name = ?1 AND type IN ('table', 'view')";
        conn.query_row(select, [name], |row| row.get(0)).optional().map_err(|error| self.sqlite(error))
    }

    /// Returns a note on a version that is newer than those this program knows.
    pub(super) fn version_note(&self, found: i64, known: i64) -> Option<String> {
        let path = self.path.display();
        (found > known).then(|| {
            format!(
                "{path}: its schema is version {found}, newer than {known}, the newest known here; what is known of it is taken"
            )
        })
    }

    pub(crate) fn unusable(&self, why: String, hint: &'static str) -> ForeignError {
        ForeignError::Unusable { path: self.path.clone(), why, hint }
    }

    pub(super) fn sqlite(&self, error: rusqlite::Error) -> ForeignError {
        self.store(DatabaseError::from_sqlite(&self.path, error))
    }

    pub(super) fn store(&self, error: DatabaseError) -> ForeignError {
        match error {
            DatabaseError::Corrupt { source, .. } => self
                .unusable(format!("no database of SQLite, or damaged ({source})"), "name a whole database"),
            DatabaseError::Newer { found, known, .. } => self.unusable(
                format!("written by a newer memod (schema {found}, we know {known})"),
                "install that version, or export there",
            ),
            DatabaseError::Sqlite { source, .. } => {
                self.unusable(source.to_string(), "is it what --from says it is?")
            }
            DatabaseError::File { source, path } => ForeignError::File { path, source },
            DatabaseError::Full { path } => {
                ForeignError::File { path, source: std::io::ErrorKind::StorageFull.into() }
            }
        }
    }
}

fn with_companions(path: &Path) -> Vec<PathBuf> {
    [path.to_owned()].into_iter().chain(COMPANIONS.map(|suffix| with_suffix(path, suffix))).collect()
}

/// The signature of the files of a database, which changes with every write.
pub(crate) type Stamps = Vec<Option<(u64, Option<SystemTime>)>>;

pub(crate) fn stamps(path: &Path) -> Stamps {
    let stamp = |path: &PathBuf| fs::metadata(path).ok().map(|meta| (meta.len(), meta.modified().ok()));
    with_companions(path).iter().map(stamp).collect()
}

fn make_ours(path: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    #[cfg(not(unix))]
    let permissions = fs::metadata(path)?.permissions();
    fs::set_permissions(path, permissions)
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    if let (Ok(one), Ok(other)) = (fs::metadata(one), fs::metadata(other)) {
        use std::os::unix::fs::MetadataExt as _;
        return (one.dev(), one.ino()) == (other.dev(), other.ino());
    }
    canonical(one).is_ok_and(|one| canonical(other).is_ok_and(|other| one == other))
}
