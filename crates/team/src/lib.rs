//! Exchanges memories with the PostgreSQL server of a team.
//!
//! `memod_config::team_server` reads the server's address from the settings, `tls` checks the server's certificate, `migrations`
//! creates and migrates the tables, and `server_connection` reads and stores versions of memories. The daemon applies these
//! versions to its own memories.

mod migrations;
mod query_error;
mod server_connection;
mod tls;

pub use memod_config::team_server::{ServerAddress, TeamError, password};

pub use self::server_connection::{
    DeliveryResult, DeliveryStop, MemoryVersion, RoleRights, ServerAccess, TeamServer, VersionMark,
    VersionPage,
};

#[cfg(test)]
mod tests {
    use tokio_postgres::Config;
    use tokio_postgres::config::Host;

    use super::ServerAddress;

    /// The client and the library that connects read an address alike.
    #[test]
    fn an_address_is_read_as_the_library_reads_it() {
        for url in [
            "postgres://ann@db.example.com/team",
            "postgresql://ann@db.example.com:5433",
            "postgres://a%20b@[::1]:6432/te%2Fam?application_name=x&connect_timeout=3",
            "postgres://localhost/?user=ann&dbname=team&sslmode=require&",
            "postgres:///team?host=localhost&user=ann&port=7",
            "postgres://ann@127.0.0.1:/team?sslmode=verify-full&options=-c%20a%3Db",
            #[cfg(unix)]
            "postgres://ann@%2Frun%2Fpostgresql/team?keepalives=0&target_session_attrs=any",
        ] {
            let address = ServerAddress::parse(url).unwrap_or_else(|error| panic!("{url}: {error}"));
            let config: Config = address.url.parse().unwrap_or_else(|error| panic!("{url}: {error}"));
            let host = match &config.get_hosts()[0] {
                Host::Tcp(name) => name.clone(),
                #[cfg(unix)]
                Host::Unix(dir) => dir.display().to_string(),
            };
            let database = config.get_dbname().or(config.get_user()).unwrap().to_owned();
            assert_eq!((address.host, address.database), (host, database), "{url}");
            assert_eq!(Some(address.role.as_str()), config.get_user(), "{url}");
            assert_eq!(Some(&address.port), config.get_ports().first(), "{url}");
        }
    }

    #[test]
    fn what_the_library_cannot_read_is_refused() {
        for url in [
            "postgres://ann@[::1/team",
            "postgres://ann@[::1]x/team",
            "postgres://ann@localhost:port/team",
            "postgres://ann@localhost:99999/team",
            "postgres://a%ff@localhost/team",
            "postgres://ann@localhost/team?sslmode=maybe",
            "postgres://ann@localhost/team?unknown=1",
            "postgres://ann@localhost/team?application_name",
            "postgres://ann@localhost/team?&user=bob",
            "postgres://ann@localhost/team?user=bob&&",
            "postgres://ann@localhost/team?connect_timeout=soon",
            "postgres://ann@localhost/team?keepalives=-1",
            "postgres://ann@localhost/team?channel_binding=no",
            "postgres://ann@localhost/team?target_session_attrs=primary",
        ] {
            assert!(url.parse::<Config>().is_err(), "{url}");
            assert!(ServerAddress::parse(url).is_err(), "{url}");
        }
    }
}
