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

/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// Longest wait for one answer.
const ANSWER: Duration = Duration::from_secs(60);
/// Most bytes of texts in one page, about.
const PAGE_BYTES: i64 = 4 << 20;

/// The rights of a role, and the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerAccess {
    /// Version of the server.
    pub version: String,
    /// Random id of the tables, created with them.
    pub server_id: String,
    /// The role.
    pub role: String,
    /// Whether it may see the repository.
    pub may_read: bool,
    /// Whether it may write to it.
    pub may_write: bool,
}

/// A version of a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryVersion {
    /// Id of the memory.
    pub id: String,
    /// Its text; empty: it is archived.
    pub text: String,
    /// The role that wrote it.
    pub author: String,
    /// When the server stored it, by its clock, unix ms; `None` if it was not asked for.
    pub at: Option<i64>,
}

/// Some of the newest versions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VersionPage {
    /// The last version of memories that have changed, in order.
    pub versions: Vec<MemoryVersion>,
    /// The last version that this page covers.
    pub up_to: VersionMark,
    /// Whether there may be more.
    pub has_more: bool,
    /// Whether the server does not have the version after which was asked: it was emptied, or restored from a backup.
    pub has_forgotten: bool,
}

/// The version that has a number. A server that was restored from a backup gives numbers a second time.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct VersionMark {
    /// The number; 0: none yet.
    pub seq: i64,
    /// The database that sent it.
    pub client: String,
    /// Its number there.
    pub n: i64,
}

/// Why not all changes were stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryStop {
    /// Somebody else has changed the memory; the team's version, `None` if it has none.
    Changed(Option<MemoryVersion>),
    /// Another database sends under the same name.
    SameClient,
}

/// The outcome of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryResult {
    /// Number of changes, from the first, that the server has.
    pub n_stored: usize,
    /// Why it has no more.
    pub stopped: Option<DeliveryStop>,
}

/// A role with its rights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleRights {
    /// The role.
    pub role: String,
    /// The repository, or a beginning with an `*`.
    pub repository: String,
    /// Whether it may write.
    pub may_write: bool,
}

/// An open connection for one repository, over which others can be read too.
pub struct TeamServer {
    client: Client,
    /// As errors name it.
    address: String,
    repository: String,
    news: Arc<ServerNews>,
}

/// The news that the server sends unasked.
#[derive(Default)]
struct ServerNews {
    bell: Notify,
    /// The server's process for this connection, which also notifies about its own changes.
    own: AtomicI32,
}

impl TeamServer {
    /// Connects, brings the tables up to date, and listens to changes of the repository.
    ///
    /// # Errors
    /// When there is no such server, it refuses the role, or its tables are newer.
    pub async fn connect(
        address: &ServerAddress,
        password: Option<String>,
        certificate: &Path,
        repository: &str,
    ) -> Result<(Self, ServerAccess), TeamError> {
        let mut config: Config = address.url.parse().map_err(|_| ServerAddress::unparsed_error())?;
        config.application_name("memod").connect_timeout(CONNECT).keepalives_idle(Duration::from_secs(30));
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
        let migrated = timeout(ANSWER, migrations::migrate(&mut server.client)).await;
        migrated
            .map_err(|_| late_error(&server.address, ANSWER))?
            .map_err(|failure| failure.with_address(&server.address))?;
        let about = server.read_access().await?;
        let own = server.query_row("SELECT pg_backend_pid()", &[]).await?;
        server.news.own.store(own.get(0), Ordering::Relaxed);
        server.listen_to(&[repository]).await?;
        Ok((server, about))
    }

    /// Listens to changes of repositories that others make.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn listen_to(&self, repositories: &[&str]) -> Result<(), TeamError> {
        let sql = "SELECT string_agg('LISTEN memod_' || md5(name), ';') FROM unnest($1::text[]) name";
        let listen = self.query_row(sql, &[&repositories]).await?.get::<_, Option<String>>(0);
        self.wait_for_answer(self.client.batch_execute(&listen.unwrap_or_default())).await
    }

    /// Returns the repositories that the role may see, each with the number of its last version.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn list_repositories(&self) -> Result<Vec<(String, i64)>, TeamError> {
        let rows = self.query_rows("SELECT name, last_seq FROM memod.repository ORDER BY name", &[]).await?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    /// Returns what the role may do now.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn read_access(&self) -> Result<ServerAccess, TeamError> {
        let sql = format!(
            "SELECT current_setting('server_version'), session_user::text, memod.may($1, false), memod.may($1, true),
                 id, {} FROM memod.schema_version s",
            migrations::NEEDS
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
        self.news.bell.notified().await;
    }

    /// Returns whether the connection has ended.
    pub fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Returns the last versions of memories of a repository that were changed after a version. Leaves out those that the client
    /// `own.0` has sent with numbers up to `own.1`, unless it asks from the beginning.
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
        // The last row is that of the last version of all.
        let Some((last, rows)) = rows.split_last() else {
            return Ok(VersionPage { has_forgotten: after.seq > 0, ..VersionPage::default() });
        };
        Ok(VersionPage {
            versions: rows.iter().filter_map(read_memory_version).collect(),
            up_to: read_mark(rows.last().unwrap_or(last), 3),
            has_more: !rows.is_empty(),
            has_forgotten: last.get(6),
        })
    }

    /// Returns the version that each repository has under a number. A repository without such a version is left out.
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

    /// Returns whether the server has a change that a client has sent.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn has_sent(&self, repository: &str, client: &str, n: i64) -> Result<bool, TeamError> {
        let sql =
            "SELECT EXISTS(SELECT 1 FROM memod.version WHERE repository = $1 AND client = $2 AND n = $3)";
        Ok(self.query_row(sql, &[&repository, &client, &n]).await?.get(0))
    }

    /// Stores changes in order, each once: number, id, hash of the version before, text.
    ///
    /// # Errors
    /// When the server does not answer, or the role may not write. The changes may have been stored nevertheless.
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

    /// Returns the roles that may see the repository.
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

    async fn query_rows(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, TeamError> {
        self.wait_for_answer(self.client.query(sql, values)).await
    }

    async fn query_row(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Row, TeamError> {
        self.wait_for_answer(self.client.query_one(sql, values)).await
    }

    /// Waits for an answer, not for ever.
    async fn wait_for_answer<T>(
        &self,
        asked: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, TeamError> {
        let answered = timeout(ANSWER, asked).await.map_err(|_| late_error(&self.address, ANSWER))?;
        answered.map_err(|error| query_error(&self.address, &error))
    }
}

/// Connects, and serves the connection in the background.
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
    let connected = timeout(CONNECT, config.connect(tls)).await.map_err(|_| late_error(address, CONNECT))?;
    let (client, connection) = connected.map_err(|error| connection_error(address, &error))?;
    tokio::spawn(run_connection(connection, Arc::clone(news)));
    Ok(client)
}

/// Serves a connection until it ends; notifies when the server has news, or is gone.
async fn run_connection<S, T>(mut connection: Connection<S, T>, news: Arc<ServerNews>)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    while let Some(message) = std::future::poll_fn(|context| connection.poll_message(context)).await {
        match message {
            Ok(AsyncMessage::Notification(of)) if of.process_id() != news.own.load(Ordering::Relaxed) => {
                news.bell.notify_one();
            }
            Ok(_) => {}
            Err(error) => {
                tracing::debug!(%error, "connection to the team's server");
                break;
            }
        }
    }
    drop(connection); // closes the client too
    news.bell.notify_one();
}

fn late_error(address: &dyn fmt::Display, limit: Duration) -> TeamError {
    TeamError::new(format!("{address}: no answer within {} s", limit.as_secs()))
}

/// Reads the columns of a mark: number, client, number of the client.
fn read_mark(row: &Row, first: usize) -> VersionMark {
    VersionMark { seq: row.get(first), client: row.get(first + 1), n: row.get(first + 2) }
}

/// Reads a version; `None` if its text is left out.
fn read_memory_version(row: &Row) -> Option<MemoryVersion> {
    let text = row.get::<_, Option<String>>(1)?;
    Some(MemoryVersion { id: row.get(0), text, author: row.get(2), at: row.get(7) })
}

fn connection_error(address: &ServerAddress, error: &tokio_postgres::Error) -> TeamError {
    let failed = TeamError::new(format!("{address}: {}", error_chain(error)));
    match error.code() {
        Some(&SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => {
            failed.with_hint("`memo team login` asks for the password")
        }
        _ if error_chain(error).contains("password missing") => {
            failed.with_hint("`memo team login` asks for the password")
        }
        _ => failed,
    }
}
