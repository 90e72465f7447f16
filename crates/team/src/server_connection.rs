//! Reads and stores versions of memories on the server of a team.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls, Row, Socket};

use super::query_error::{error_chain, query_error};
use super::{ServerAddress, TeamError, migrations, tls};

/// Maximum time for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum time for one answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// Approximate maximum of the texts in one page, bytes.
const PAGE_BYTES: i64 = 4 << 20;

/// A server, and the rights of the role with which memod is connected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerAccess {
    /// Version of PostgreSQL.
    pub version: String,
    /// Random id of the tables, created with them.
    pub server_id: String,
    /// Name of the role.
    pub role: String,
    /// Whether the role may read the memories of the repository.
    pub may_read: bool,
    /// Whether the role may change the memories of the repository.
    pub may_write: bool,
}

/// A version of a memory on the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryVersion {
    /// Id of the memory.
    pub id: String,
    /// Text of the version; empty if it archives the memory.
    pub text: String,
    /// Name of the role that sent the version.
    pub author: String,
    /// Time when the server stored the version, by the server's clock, unix ms; `None` if the query did not read it.
    pub at: Option<i64>,
}

/// A page of versions from the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VersionPage {
    /// The last versions of changed memories, in the order in which the server stored them.
    pub versions: Vec<MemoryVersion>,
    /// The last version that this page covers; the next page begins after it.
    pub up_to: VersionMark,
    /// Whether there may be further pages.
    pub has_more: bool,
    /// Whether the server lacks the version after which the page begins, because it was emptied or restored from a backup.
    pub lacks_start: bool,
}

/// Identifies a version by its number and its sender: a server that was restored from a backup uses numbers again.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct VersionMark {
    /// Number of the version on the server; 0 before the first version.
    pub seq: i64,
    /// Client name of the database that sent the version.
    pub client: String,
    /// Number of the change in that database's outbox.
    pub n: i64,
}

/// Why not all changes were stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryStop {
    /// Another client has changed the memory to this version; `None` if the team does not have the memory.
    Changed(Option<MemoryVersion>),
    /// Another database sends under the same client name.
    SameClient,
}

/// The outcome of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryResult {
    /// Number of changes, counted from the first, that the server now has.
    pub n_stored: usize,
    /// Why the server has not stored the other changes; `None` if it has all.
    pub stopped: Option<DeliveryStop>,
}

/// The rights of a role to repositories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleRights {
    /// Name of the role.
    pub role: String,
    /// Name of the repository, or the beginning of names, followed by `*`.
    pub repository: String,
    /// Whether the role may change memories.
    pub may_write: bool,
}

/// An open connection to a team's server for one repository, through which other repositories can be read, too.
pub struct TeamServer {
    client: Client,
    /// Address of the server, for errors.
    address: String,
    /// Name of the repository to which changes are sent.
    repository: String,
    news: Arc<ServerNews>,
}

/// The notifications of the server about changes.
#[derive(Default)]
struct ServerNews {
    /// Wakes [`TeamServer::wait_for_change`].
    change_signal: Notify,
    /// Process id of the server's process for this connection, whose notifications are ignored: they are about our own changes.
    own_process_id: AtomicI32,
}

impl TeamServer {
    /// Connects, migrates the tables, and listens for changes of the repository. `certificate` is the PEM file with the
    /// certificates that vouch for the server; empty for those of the system. Returns the connection, and the rights of the role.
    ///
    /// # Errors
    /// When the server cannot be reached, refuses the role, or has tables that need a newer memod.
    pub async fn connect(
        address: &ServerAddress,
        password: Option<String>,
        certificate: &Path,
        repository: &str,
    ) -> Result<(Self, ServerAccess), TeamError> {
        let mut config: Config = address.url.parse().map_err(|_| ServerAddress::unparsed_error())?;
        config
            .application_name("memod")
            .connect_timeout(CONNECT_TIMEOUT)
            .keepalives_idle(Duration::from_secs(30));
        if let Some(password) = password {
            config.password(password);
        }
        let news = Arc::<ServerNews>::default();
        let client = if address.is_encrypted {
            config.ssl_mode(tokio_postgres::config::SslMode::Require);
            open_connection(&config, address, tls::build_connector(certificate)?, &news).await?
        } else {
            config.ssl_mode(tokio_postgres::config::SslMode::Disable);
            open_connection(&config, address, NoTls, &news).await?
        };
        let mut server =
            Self { client, address: address.to_string(), repository: repository.to_owned(), news };
        let migrated = timeout(ANSWER_TIMEOUT, migrations::migrate(&mut server.client)).await;
        migrated
            .map_err(|_| late_error(&server.address, ANSWER_TIMEOUT))?
            .map_err(|failure| failure.with_address(&server.address))?;
        let about = server.read_access().await?;
        let own = server.query_row("SELECT pg_backend_pid()", &[]).await?;
        server.news.own_process_id.store(own.get(0), Ordering::Relaxed);
        server.listen_to(&[repository]).await?;
        Ok((server, about))
    }

    /// Makes [`Self::wait_for_change`] return on changes of these repositories by others, too.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn listen_to(&self, repositories: &[&str]) -> Result<(), TeamError> {
        let sql = "SELECT string_agg('LISTEN memod_' || md5(name), ';') FROM unnest($1::text[]) name";
        let listen = self.query_row(sql, &[&repositories]).await?.get::<_, Option<String>>(0);
        self.wait_for_answer(self.client.batch_execute(&listen.unwrap_or_default())).await
    }

    /// Returns the names of the repositories that the role may read, each with the number of its last version.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn list_repositories(&self) -> Result<Vec<(String, i64)>, TeamError> {
        let rows = self.query_rows("SELECT name, last_seq FROM memod.repository ORDER BY name", &[]).await?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    /// Returns the server's version and the present rights of the role.
    ///
    /// # Errors
    /// When the server does not answer, or its tables need a newer memod.
    pub async fn read_access(&self) -> Result<ServerAccess, TeamError> {
        let sql = format!(
            "SELECT current_setting('server_version'), session_user::text, memod.may($1, false), memod.may($1, true),
                 id, {} FROM memod.schema_version s",
            migrations::REQUIRED_VERSION_SQL
        );
        let row = self.query_row(&sql, &[&self.repository]).await?;
        migrations::check_version(row.get(5)).map_err(|failure| failure.with_address(&self.address))?;
        Ok(ServerAccess {
            version: row.get(0),
            role: row.get(1),
            may_read: row.get(2),
            may_write: row.get(3),
            server_id: row.get(4),
        })
    }

    /// Waits until a repository may have changed, or the connection has ended.
    pub async fn wait_for_change(&self) {
        self.news.change_signal.notified().await;
    }

    /// Returns whether the connection has ended.
    pub fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Returns a page of at most `at_most` memories of a repository that were changed after the version `after`, each in its last
    /// version. Leaves out the versions that the client `own.0` has sent with numbers up to `own.1`, unless `after` is the
    /// beginning.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn pull_versions(
        &self,
        repository: &str,
        after: &VersionMark,
        own: (&str, i64),
        at_most: i64,
    ) -> Result<VersionPage, TeamError> {
        let rows = self
            .query_rows(
                "WITH page AS (
                     SELECT v.seq, v.id, v.text, v.author::text AS author, v.client, v.n, v.at,
                         sum(octet_length(v.text)) OVER (ORDER BY v.seq) - octet_length(v.text) AS before
                     FROM memod.version v JOIN memod.memory m ON m.repository = v.repository AND m.id = v.id AND m.seq = v.seq
                     WHERE v.repository = $1 AND v.seq > $2 ORDER BY v.seq LIMIT $4)
                 SELECT id, CASE WHEN $2 > 0 AND client = $3 AND n <= $6 THEN NULL ELSE text END, author, seq, client, n, false,
                     (extract(epoch FROM at) * 1000)::bigint
                 FROM page WHERE before < $5
                 UNION ALL
                 SELECT NULL, NULL, NULL, v.seq, v.client, v.n, $2 > 0 AND NOT EXISTS (
                     SELECT 1 FROM memod.version k
                     WHERE k.repository = $1 AND k.seq = $2 AND k.client = $7 AND k.n = $8), NULL
                 FROM memod.repository r
                 JOIN memod.version v ON v.repository = r.name AND v.seq = r.last_seq WHERE r.name = $1",
                &[&repository, &after.seq, &own.0, &at_most, &PAGE_BYTES, &own.1, &after.client, &after.n],
            )
            .await?;
        // The last row is about the last version of the repository.
        let Some((last, rows)) = rows.split_last() else {
            return Ok(VersionPage { lacks_start: after.seq > 0, ..VersionPage::default() });
        };
        Ok(VersionPage {
            versions: rows.iter().filter_map(read_memory_version).collect(),
            up_to: read_mark(rows.last().unwrap_or(last), 3),
            has_more: !rows.is_empty(),
            lacks_start: last.get(6),
        })
    }

    /// Returns the mark of the version that each of these repositories has under a number, by repository. Leaves out a repository
    /// without such a version.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn read_marks(&self, of: &[(&str, i64)]) -> Result<HashMap<String, VersionMark>, TeamError> {
        if of.is_empty() {
            return Ok(HashMap::new());
        }
        let (repositories, numbers): (Vec<&str>, Vec<i64>) = of.iter().copied().unzip();
        let sql =
            "SELECT v.repository, v.seq, v.client, v.n FROM unnest($1::text[], $2::bigint[]) q(name, seq)
             JOIN memod.version v ON v.repository = q.name AND v.seq = q.seq";
        let rows = self.query_rows(sql, &[&repositories, &numbers]).await?;
        Ok(rows.iter().map(|row| (row.get(0), read_mark(row, 1))).collect())
    }

    /// Returns whether the server has the change with the number `n` of a client.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn has_change(&self, repository: &str, client: &str, n: i64) -> Result<bool, TeamError> {
        let sql =
            "SELECT EXISTS(SELECT 1 FROM memod.version WHERE repository = $1 AND client = $2 AND n = $3)";
        Ok(self.query_row(sql, &[&repository, &client, &n]).await?.get(0))
    }

    /// Sends changes of this database, the client `client`, to the server, which stores them in order, each once. A change is its
    /// number, the id of the memory, the hash of the version before, and the text.
    ///
    /// # Errors
    /// When the server does not answer, or the role may not write. If there is no answer, the changes may have been stored.
    pub async fn deliver_changes(
        &self,
        client: &str,
        changes: &[(i64, &str, Option<[u8; 32]>, &str)],
    ) -> Result<DeliveryResult, TeamError> {
        let numbers: Vec<i64> = changes.iter().map(|change| change.0).collect();
        let ids: Vec<&str> = changes.iter().map(|change| change.1).collect();
        let formers: Vec<Option<&[u8]>> =
            changes.iter().map(|change| change.2.as_ref().map(<[u8; 32]>::as_slice)).collect();
        let texts: Vec<&str> = changes.iter().map(|change| change.3).collect();
        let sql = "SELECT n_stored, why, text, author::text FROM memod.deliver($1, $2, $3, $4, $5, $6)";
        let row = self.query_row(sql, &[&self.repository, &client, &numbers, &ids, &formers, &texts]).await?;
        let n_stored = usize::try_from(row.get::<_, i32>(0)).unwrap_or_default();
        let stopped = match row.get::<_, Option<&str>>(1) {
            None => None,
            Some("client") => Some(DeliveryStop::SameClient),
            Some(_) => {
                Some(DeliveryStop::Changed(row.get::<_, Option<String>>(2).map(|text| MemoryVersion {
                    id: ids.get(n_stored).copied().unwrap_or_default().to_owned(),
                    text,
                    author: row.get(3),
                    at: None,
                })))
            }
        };
        Ok(DeliveryResult { n_stored, stopped })
    }

    /// Returns the roles that may read the repository, with their rights.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn list_members(&self) -> Result<Vec<RoleRights>, TeamError> {
        let sql = "SELECT role::text, repository, may_write FROM memod.members($1)";
        let rows = self.query_rows(sql, &[&self.repository]).await?;
        Ok(rows
            .iter()
            .map(|row| RoleRights { role: row.get(0), repository: row.get(1), may_write: row.get(2) })
            .collect())
    }

    /// Runs a query, and returns its rows.
    async fn query_rows(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, TeamError> {
        self.wait_for_answer(self.client.query(sql, values)).await
    }

    /// Runs a query that returns one row.
    async fn query_row(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Row, TeamError> {
        self.wait_for_answer(self.client.query_one(sql, values)).await
    }

    /// Waits for an answer of the server, at most [`ANSWER_TIMEOUT`].
    async fn wait_for_answer<T>(
        &self,
        asked: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, TeamError> {
        let answered =
            timeout(ANSWER_TIMEOUT, asked).await.map_err(|_| late_error(&self.address, ANSWER_TIMEOUT))?;
        answered.map_err(|error| query_error(&self.address, &error))
    }
}

/// Connects to a server, and starts a task that serves the connection.
async fn open_connection<T>(
    config: &Config,
    address: &ServerAddress,
    tls: T,
    news: &Arc<ServerNews>,
) -> Result<Client, TeamError>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
{
    let connected = timeout(CONNECT_TIMEOUT, config.connect(tls))
        .await
        .map_err(|_| late_error(address, CONNECT_TIMEOUT))?;
    let (client, connection) = connected.map_err(|error| connection_error(address, &error))?;
    tokio::spawn(run_connection(connection, Arc::clone(news)));
    Ok(client)
}

/// Serves a connection until it ends. Wakes [`TeamServer::wait_for_change`] when others have changed a repository, and at the end.
async fn run_connection<S, T>(mut connection: Connection<S, T>, news: Arc<ServerNews>)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    while let Some(message) = std::future::poll_fn(|context| connection.poll_message(context)).await {
        match message {
            Ok(AsyncMessage::Notification(of))
                if of.process_id() != news.own_process_id.load(Ordering::Relaxed) =>
            {
                news.change_signal.notify_one();
            }
            Ok(_) => {}
            Err(error) => {
                tracing::debug!(%error, "connection to the team's server");
                break;
            }
        }
    }
    drop(connection); // closes the client, too
    news.change_signal.notify_one();
}

/// Returns the error for a server that has not answered in time.
fn late_error(address: &dyn fmt::Display, limit: Duration) -> TeamError {
    TeamError::new(format!("{address}: no answer within {} s", limit.as_secs()))
        .with_hint("check the network and the server, and try again")
}

/// Reads the columns of a mark from the column `first` on: number, client name, number of the change there.
fn read_mark(row: &Row, first: usize) -> VersionMark {
    VersionMark { seq: row.get(first), client: row.get(first + 1), n: row.get(first + 2) }
}

/// Reads a version; `None` if its text is left out.
fn read_memory_version(row: &Row) -> Option<MemoryVersion> {
    let text = row.get::<_, Option<String>>(1)?;
    Some(MemoryVersion { id: row.get(0), text, author: row.get(2), at: row.get(7) })
}

/// Returns the error for a connection that failed, with a hint if the password is wrong or missing.
fn connection_error(address: &ServerAddress, error: &tokio_postgres::Error) -> TeamError {
    let failed = TeamError::new(format!("{address}: {}", error_chain(error)));
    match error.code() {
        Some(&SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => {
            failed.with_hint("`memo share team login` asks for the password")
        }
        _ if error_chain(error).contains("password missing") => {
            failed.with_hint("`memo share team login` asks for the password")
        }
        _ => failed,
    }
}
