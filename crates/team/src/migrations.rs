//! Creates and migrates the tables of a team on its server.
//!
//! Migrations are only ever appended. A server whose tables need a newer memod is refused unchanged.

use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::TeamError;
use super::query_error::query_error;

/// The script of each version of the tables, oldest first: each migrates from the version before.
const MIGRATIONS: [&str; 3] =
    [include_str!("schema.sql"), include_str!("erase.sql"), include_str!("visible.sql")];
/// The oldest version of the tables with which this program works.
const OLDEST_USABLE_VERSION: i32 = 2;
/// SQL for the version of the tables that a program must know; `s` is a row of `memod.schema_version`.
pub(super) const REQUIRED_VERSION_SQL: &str = "coalesce((to_jsonb(s) ->> 'needs')::integer, s.version)";
/// Number of the advisory lock that prevents two migrations at once: `memod` in ASCII.
const LOCK: i64 = 0x006d_656d_6f64;
/// Settings of a migration's transaction. A migration that waited for a backup of the tables would make all others wait, too.
const SETTINGS: &str = "SET LOCAL lock_timeout = '3s'";

/// Migrates the tables to the version of this program. If that fails, and this program works with the present version, the next
/// connection tries again.
///
/// # Errors
/// When the tables cannot be migrated, and this program does not work with their present version.
pub(super) async fn migrate(client: &mut Client) -> Result<(), TeamError> {
    let known = read_version(client).await?;
    if usize::try_from(known).is_ok_and(|known| known >= MIGRATIONS.len()) {
        return Ok(()); // `TeamServer::read_access` checks whether the tables are too new
    }
    match run_migrations(client).await {
        Err(failure) if known >= OLDEST_USABLE_VERSION && !client.is_closed() => {
            tracing::info!(%failure, known, "cannot migrate the tables; using their present version");
            Ok(())
        }
        outcome => outcome,
    }
}

/// Runs the missing migrations in one transaction.
async fn run_migrations(client: &mut Client) -> Result<(), TeamError> {
    let transaction = client.transaction().await.map_err(|error| query_error("migrate", &error))?;
    transaction.batch_execute(SETTINGS).await.map_err(|error| query_error("migrate", &error))?;
    let lock = transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]);
    lock.await.map_err(|error| query_error("migrate", &error))?;
    let known = read_version(&transaction).await?; // another client may have migrated meanwhile
    for (at, script) in MIGRATIONS.iter().enumerate().skip(usize::try_from(known).unwrap_or_default()) {
        transaction.batch_execute(script).await.map_err(|error| script_error(at + 1, &error))?;
    }
    transaction.commit().await.map_err(|error| query_error("migrate", &error))
}

/// Returns the error for a migration to `version` that failed.
fn script_error(version: usize, error: &tokio_postgres::Error) -> TeamError {
    let failed = query_error(&format!("create version {version} of the tables"), error);
    match error.code() {
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => failed.with_hint(
            "let the owner of the database run `memo share team push` once: that migrates the tables",
        ),
        _ => failed,
    }
}

/// Fails if the tables need a newer program; `known` is the version of the tables that a program must know.
pub(super) fn check_version(known: i32) -> Result<(), TeamError> {
    let is_newer = usize::try_from(known).is_ok_and(|known| known > MIGRATIONS.len());
    if is_newer { Err(newer_tables_error(known)) } else { Ok(()) }
}

/// Returns the error for tables that need a program that knows their version `known`.
fn newer_tables_error(known: i32) -> TeamError {
    let latest = MIGRATIONS.len();
    let message = format!(
        "the server needs a memod that knows version {known} of the tables, and this one knows {latest}"
    );
    TeamError::new(message).with_hint("install a newer memod")
}

/// Returns the version of the tables; 0 if there are none.
async fn read_version(client: &impl tokio_postgres::GenericClient) -> Result<i32, TeamError> {
    // Not `to_regclass`, which in a transaction may not see the tables that another transaction has just created.
    let sql =
        "SELECT EXISTS(SELECT 1 FROM pg_tables WHERE schemaname = 'memod' AND tablename = 'schema_version')";
    let there = client.query_one(sql, &[]).await;
    if !there.map_err(|error| query_error("find the tables", &error))?.get::<_, bool>(0) {
        return Ok(0);
    }
    let row = client.query_one("SELECT version FROM memod.schema_version", &[]).await;
    Ok(row.map_err(|error| query_error("read the version of the tables", &error))?.get(0))
}
