//! Parses and checks the address of a team's server.
//!
//! The address is a URL for `tokio-postgres`, to which the daemon passes it. The code here checks the URL without a library of
//! PostgreSQL, so that the client can do so, too.

use std::borrow::Cow;
use std::net::IpAddr;

use percent_encoding::percent_decode_str;

use super::TeamError;

/// Default port of PostgreSQL.
const PORT: u16 = 5432;
/// Hint for an invalid address.
const FORM_HINT: &str = "write it as postgres://ROLE@HOST/DATABASE";
/// Options of the URL that take any text.
const TEXT_OPTIONS: &[&str] = &["application_name", "options"];
/// Options of the URL that take a whole number.
const NUMBER_OPTIONS: &[&str] = &[
    "connect_timeout",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "tcp_user_timeout",
];
/// Options of the URL that take one of some words.
const WORD_OPTIONS: &[(&str, &[&str])] = &[
    ("channel_binding", &["disable", "prefer", "require"]),
    ("load_balance_hosts", &["disable", "random"]),
    ("sslnegotiation", &["postgres", "direct"]),
    ("target_session_attrs", &["any", "read-write", "read-only"]),
];

/// The address of a database on a server, with the role, without a password.
#[derive(Clone, Debug)]
pub struct ServerAddress {
    /// The URL for `tokio-postgres`.
    pub url: String,
    /// Whether the connection is encrypted, and the server's certificate checked.
    pub is_encrypted: bool,
    /// Host name, IP address or socket directory, as password files have it.
    pub host: String,
    /// Port of the server.
    pub port: u16,
    /// Name of the database.
    pub database: String,
    /// Name of the role.
    pub role: String,
}

/// The parts of a URL, before they are checked.
#[derive(Debug, Default)]
struct ParsedUrl {
    hosts: Vec<String>,
    ports: Vec<u16>,
    role: Option<String>,
    database: Option<String>,
    has_password: bool,
    has_host_address: bool,
    ssl: SslMode,
}

/// The mode of encryption that a URL asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SslMode {
    Disable,
    #[default]
    Prefer,
    Require,
}

impl ServerAddress {
    /// Parses `postgres://ROLE@HOST:PORT/DATABASE`.
    ///
    /// # Errors
    /// When the text is not such an address, has a password, or asks for an unencrypted connection to another machine.
    pub fn parse(url: &str) -> Result<Self, TeamError> {
        if url.is_empty() {
            return Err(TeamError::new("team.url is not set").with_hint(FORM_HINT));
        }
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(TeamError::new("team.url: not an address of PostgreSQL").with_hint(FORM_HINT));
        }
        // `verify-full` is libpq's name for checking the certificate, which is always done here.
        let (before, options) = url.split_once('?').unwrap_or((url, ""));
        let options = options.replace("sslmode=verify-full", "sslmode=require");
        let url = if options.is_empty() { before.to_owned() } else { format!("{before}?{options}") };
        let parts = ParsedUrl::parse_url(before, &options).ok_or_else(Self::unparsed_error)?;
        if parts.has_password {
            return Err(TeamError::new("team.url: has a password, which a setting must not have").with_hint(
                "remove the password; `memo share team login` asks for it, and stores it where only you can read it",
            ));
        }
        let [host] = parts.hosts.as_slice() else {
            return Err(TeamError::new("team.url: must name exactly one host").with_hint(FORM_HINT));
        };
        if parts.has_host_address {
            return Err(TeamError::new("team.url: the option hostaddr is not allowed").with_hint(FORM_HINT));
        }
        let Some(role) = parts.role else {
            return Err(TeamError::new("team.url: names no role").with_hint(FORM_HINT));
        };
        let is_local = is_loopback(host) || cfg!(unix) && host.starts_with('/');
        if parts.ssl == SslMode::Disable && !is_local {
            return Err(TeamError::new("team.url: has sslmode=disable for a server on another machine")
                .with_hint("remove sslmode=disable: memories cross a network only encrypted"));
        }
        let is_encrypted = !is_local || parts.ssl == SslMode::Require;
        let port = parts.ports.first().copied().unwrap_or(PORT);
        let database = parts.database.unwrap_or_else(|| role.clone());
        Ok(Self { url, is_encrypted, host: host.clone(), port, database, role })
    }

    /// Returns the error for a URL that cannot be parsed. The error does not show the URL, which may have a password in it.
    pub fn unparsed_error() -> TeamError {
        TeamError::new("team.url: cannot be parsed").with_hint(FORM_HINT)
    }
}

impl ParsedUrl {
    /// Parses `url`, which is the part of a URL before the `?`, and `options`, the part after; `None` if they cannot be parsed.
    fn parse_url(url: &str, options: &str) -> Option<Self> {
        let (_, rest) = url.split_once("://")?;
        if options.contains('@') && !rest.contains('@') {
            return None; // `tokio-postgres` would take everything before the `@` for the role
        }
        let mut parts = Self::default();
        let rest = match rest.split_once('@') {
            None => rest,
            Some((role, rest)) => {
                let (role, password) =
                    role.split_once(':').map_or((role, None), |(role, it)| (role, Some(it)));
                parts.has_password = password.is_some();
                parts.role = Some(percent_decoded(role)?.into_owned());
                rest
            }
        };
        let (hosts, database) = rest.split_once('/').unwrap_or((rest, ""));
        for host in hosts.split(',').filter(|_| !hosts.is_empty()) {
            let (host, port) = host_and_port(host)?;
            parts.hosts.push(percent_decoded(host)?.into_owned());
            parts.add_port(port)?;
        }
        parts.database = Some(percent_decoded(database)?.into_owned()).filter(|name| !name.is_empty());
        let options = options.strip_suffix('&').unwrap_or(options);
        for option in options.split('&').filter(|_| !options.is_empty()) {
            let (name, value) = option.split_once('=')?;
            parts.add_option(&percent_decoded(name)?, &percent_decoded(value)?)?;
        }
        Some(parts)
    }

    /// Adds an option of the URL; `None` if there is no option with this name, or the option does not allow this value.
    fn add_option(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "user" => self.role = Some(value.to_owned()),
            "password" => self.has_password = true,
            "dbname" => self.database = Some(value.to_owned()),
            "host" => self.hosts.push(value.to_owned()),
            "hostaddr" => self.has_host_address = true,
            "port" => value.split(',').try_for_each(|port| self.add_port(port))?,
            "sslmode" => {
                self.ssl = match value {
                    "disable" => SslMode::Disable,
                    "prefer" => SslMode::Prefer,
                    "require" => SslMode::Require,
                    _ => return None,
                }
            }
            number if NUMBER_OPTIONS.contains(&number) => drop(value.parse::<u32>().ok()?),
            text if TEXT_OPTIONS.contains(&text) => {}
            word => {
                let (_, words) = WORD_OPTIONS.iter().find(|(name, _)| *name == word)?;
                return words.contains(&value).then_some(());
            }
        }
        Some(())
    }

    /// Adds a port, the default port if `port` is empty; `None` if it is not a port.
    fn add_port(&mut self, port: &str) -> Option<()> {
        self.ports.push(if port.is_empty() { PORT } else { percent_decoded(port)?.parse().ok()? });
        Some(())
    }
}

impl std::fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { host, port, database, role, .. } = self;
        let host = if host.contains('/') { host.replace('/', "%2F") } else { host.clone() };
        write!(f, "postgres://{role}@{host}:{port}/{database}")
    }
}

/// Splits a host from its port; returns both, the host without the brackets of an IPv6 address, and an empty port if there is none.
fn host_and_port(host: &str) -> Option<(&str, &str)> {
    match host.strip_prefix('[') {
        None => Some(host.split_once(':').unwrap_or((host, ""))),
        Some(rest) => {
            let (address, port) = rest.split_once(']')?;
            if port.is_empty() { Some((address, "")) } else { Some((address, port.strip_prefix(':')?)) }
        }
    }
}

/// Decodes the percent-encoding of a part of a URL; `None` if the result is not UTF-8.
fn percent_decoded(part: &str) -> Option<Cow<'_, str>> {
    percent_decode_str(part).decode_utf8().ok()
}

/// Returns whether a host is this machine by its name or address.
fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_encrypted(url: &str) -> bool {
        ServerAddress::parse(url).unwrap().is_encrypted
    }

    fn refusal(url: &str) -> String {
        ServerAddress::parse(url).unwrap_err().message
    }

    #[test]
    fn other_machines_are_reached_encrypted() {
        assert!(is_encrypted("postgres://ann@db.example.com/team"));
        assert!(is_encrypted("postgres://ann@192.168.1.4/team?sslmode=prefer"));
        assert!(is_encrypted("postgres://ann@127.0.0.1/team?sslmode=require"));
        assert!(is_encrypted("postgres://ann@127.0.0.1/team?sslmode=verify-full"));
        assert!(!is_encrypted("postgres://ann@127.0.0.1/team"));
        assert!(!is_encrypted("postgres://ann@localhost:5433/team"));
        #[cfg(unix)]
        assert!(!is_encrypted("postgres://ann@%2Frun%2Fpostgresql/team"));
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
        assert!(refusal("https://localhost/team").contains("not an address of PostgreSQL"));
        assert!(refusal("postgres://localhost/team").contains("no role"));
        assert!(refusal("postgres://ann@a,b/team").contains("exactly one host"));
        assert!(refusal("postgres://ann@localhost/team?hostaddr=203.0.113.5").contains("hostaddr"));
        assert!(
            refusal("postgres://db/team?user=a@b").contains("cannot be parsed"),
            "the library takes the first @"
        );
    }

    #[test]
    fn it_is_shown_whole() {
        let shown = ServerAddress::parse("postgres://ann@Db.example.com/team").unwrap().to_string();
        assert_eq!(shown, "postgres://ann@Db.example.com:5432/team");
    }
}
