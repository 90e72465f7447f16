//! Creates and migrates the tables of a team.
//!
//! Migrations are only ever appended. A server of a newer schema is refused unchanged.

use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::TeamError;
use super::query_error::query_error;

/// One script a version, oldest first.
const MIGRATIONS: [&str; 3] =
    [include_str!("schema.sql"), include_str!("erase.sql"), include_str!("visible.sql")];
/// The oldest version of the tables that this program can do with.
const SUFFICES: i32 = 2;
/// An expression for the version of the tables that a program must know, of a row `s` of `memod.schema_version`.
pub(super) const NEEDS: &str = "coalesce((to_jsonb(s) ->> 'needs')::integer, s.version)";
/// The lock of who migrates, so that two do not at once: `memod` in ASCII.
const LOCK: i64 = 0x006d_656d_6f64;
/// Settings of the transaction: who waits for a backup of the tables has all others wait too.
const SETTINGS: &str = "SET LOCAL lock_timeout = '3s'";

/// Brings the tables to the version of this program. Where that fails and what is there suffices, it is left to the next one who
/// connects.
///
/// # Errors
/// When they are newer than this program can do with, or too old and cannot be migrated.
pub(super) async fn migrate(client: &mut Client) -> Result<(), TeamError> {
    let known = read_version(client).await?;
    if usize::try_from(known).is_ok_and(|known| known >= MIGRATIONS.len()) {
        return Ok(()); // whether they are too new is checked with each answer
    }
    match migrate_from(client).await {
        Err(failure) if known >= SUFFICES && !client.is_closed() => {
            tracing::info!(%failure, known, "the tables of the team stay as they are");
            Ok(())
        }
        outcome => outcome,
    }
}

async fn migrate_from(client: &mut Client) -> Result<(), TeamError> {
    let transaction = client.transaction().await.map_err(|error| query_error("migrate", &error))?;
    transaction.batch_execute(SETTINGS).await.map_err(|error| query_error("migrate", &error))?;
    let lock = transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]);
    lock.await.map_err(|error| query_error("migrate", &error))?;
    let known = read_version(&transaction).await?; // somebody else may have been quicker
    for (at, script) in MIGRATIONS.iter().enumerate().skip(usize::try_from(known).unwrap_or_default()) {
        transaction.batch_execute(script).await.map_err(|error| script_error(at + 1, &error))?;
    }
    transaction.commit().await.map_err(|error| query_error("migrate", &error))
}

fn script_error(version: usize, error: &tokio_postgres::Error) -> TeamError {
    let failed = query_error(&format!("create version {version} of the tables"), error);
    match error.code() {
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => failed.with_hint(
            "let the owner of the database run `memo team push` once: that brings them up to date",
        ),
        _ => failed,
    }
}

/// Fails if the tables are newer than this program can do with; `known` is what they need.
pub(super) fn check_version(known: i32) -> Result<(), TeamError> {
    let is_newer = usize::try_from(known).is_ok_and(|known| known > MIGRATIONS.len());
    if is_newer { Err(newer_tables_error(known)) } else { Ok(()) }
}

fn newer_tables_error(known: i32) -> TeamError {
    let latest = MIGRATIONS.len();
    let message = format!(
        "the server needs a memod that knows version {known} of the tables, and this one knows {latest}"
    );
    TeamError::new(message).with_hint("install a newer memod")
}

/// Returns the version of the tables; 0 if there are none.
async fn read_version(client: &impl tokio_postgres::GenericClient) -> Result<i32, TeamError> {
    // Not `to_regclass`: in a transaction, that may not see what another one has made meanwhile.
    let sql =
        "SELECT EXISTS(SELECT 1 FROM pg_tables WHERE schemaname = 'memod' AND tablename = 'schema_version')";
    let there = client.query_one(sql, &[]).await;
    if !there.map_err(|error| query_error("look at the tables", &error))?.get::<_, bool>(0) {
        return Ok(0);
    }
    let row = client.query_one("SELECT version FROM memod.schema_version", &[]).await;
    Ok(row.map_err(|error| query_error("look at the tables", &error))?.get(0))
}
