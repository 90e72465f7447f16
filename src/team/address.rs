//! Checks the address of a team's server.

use std::net::IpAddr;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use super::TeamError;

/// Port of PostgreSQL.
const PORT: u16 = 5432;

/// A server, a database in it, and a role. It has no password.
#[derive(Clone, Debug)]
pub struct Address {
    pub(super) config: Config,
    /// Whether all is encrypted, and the server's certificate checked.
    pub(super) is_encrypted: bool,
    /// Host, as a password file has it.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Database.
    pub database: String,
    /// Role.
    pub role: String,
}

impl Address {
    /// Parses `postgres://ROLE@HOST:PORT/DATABASE`.
    ///
    /// # Errors
    /// When it is none, has a password, or asks for an unencrypted connection to another machine.
    pub fn parse(url: &str) -> Result<Self, TeamError> {
        let form = "write it as postgres://ROLE@HOST/DATABASE";
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(TeamError::new("team.url: is no address of PostgreSQL").hint(form));
        }
        // As libpq calls what is always done here.
        let (before, options) = url.split_once('?').unwrap_or((url, ""));
        let options = options.replace("sslmode=verify-full", "sslmode=require");
        let url = if options.is_empty() { before.to_owned() } else { format!("{before}?{options}") };
        // What cannot be parsed may have a password in it, so it is not shown.
        let config: Config =
            url.parse().map_err(|_| TeamError::new("team.url: cannot be parsed").hint(form))?;
        if config.get_password().is_some() {
            return Err(TeamError::new("team.url: has a password, which settings may not have").hint(
                "take it out; `memo team login` asks for it, and keeps it where only you can read it",
            ));
        }
        let [host] = config.get_hosts() else {
            return Err(TeamError::new("team.url: names no host, or several").hint(form));
        };
        if !config.get_hostaddrs().is_empty() {
            return Err(TeamError::new("team.url: names an address beside the host").hint(form));
        }
        let (host, is_local) = match host {
            Host::Tcp(name) => (name.clone(), is_loopback(name)),
            #[cfg(unix)]
            Host::Unix(dir) => (dir.display().to_string(), true),
        };
        let Some(role) = config.get_user().map(str::to_owned) else {
            return Err(TeamError::new("team.url: names no role").hint(form));
        };
        let is_plain = config.get_ssl_mode() == SslMode::Disable;
        if is_plain && !is_local {
            return Err(TeamError::new("team.url: sslmode=disable, and the server is on another machine")
                .hint("take it out: memories cross a network only encrypted"));
        }
        let is_encrypted = !is_local || config.get_ssl_mode() == SslMode::Require;
        let port = config.get_ports().first().copied().unwrap_or(PORT);
        let database = config.get_dbname().unwrap_or(&role).to_owned();
        Ok(Self { config, is_encrypted, host, port, database, role })
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { host, port, database, role, .. } = self;
        let host = if host.contains('/') { host.replace('/', "%2F") } else { host.clone() };
        write!(f, "postgres://{role}@{host}:{port}/{database}")
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(url: &str) -> String {
        Address::parse(url).unwrap_err().message
    }

    #[test]
    fn other_machines_are_reached_encrypted() {
        let of = |url| Address::parse(url).unwrap().is_encrypted;
        assert!(of("postgres://ann@db.example.com/team"));
        assert!(of("postgres://ann@192.168.1.4/team?sslmode=prefer"));
        assert!(of("postgres://ann@127.0.0.1/team?sslmode=require"));
        assert!(of("postgres://ann@127.0.0.1/team?sslmode=verify-full"));
        assert!(!of("postgres://ann@127.0.0.1/team"));
        assert!(!of("postgres://ann@localhost:5433/team"));
        #[cfg(unix)]
        assert!(!of("postgres://ann@%2Frun%2Fpostgresql/team"));
        assert!(
            refusal("postgres://ann@127.0.0.1.example.com/team?sslmode=disable").contains("another machine")
        );
    }

    #[test]
    fn a_password_is_refused_and_not_shown() {
        let said = refusal("postgres://ann:hunter2@localhost/team");
        assert!(said.contains("has a password") && !said.contains("hunter2"), "{said}");
        let said = refusal("postgres://ann:hunter2@[::1/team");
        assert!(!said.contains("hunter2"), "{said}");
    }

    #[test]
    fn what_is_missing_is_said() {
        assert!(refusal("https://localhost/team").contains("no address of PostgreSQL"));
        assert!(refusal("postgres://localhost/team").contains("no role"));
        assert!(refusal("postgres://ann@a,b/team").contains("several"));
        assert!(refusal("postgres://ann@localhost/team?hostaddr=203.0.113.5").contains("beside"));
    }

    #[test]
    fn it_is_shown_whole() {
        let shown = Address::parse("postgres://ann@Db.example.com/team").unwrap().to_string();
        assert_eq!(shown, "postgres://ann@Db.example.com:5432/team");
    }
}
