//! Is the server one that the user's certificates vouch for?

use std::process::Command;

use super::postgres::Postgres;
use super::{Member, SHOP};
use crate::live::not_checked;

/// Makes a key and a certificate that vouches for itself, for a name as in a certificate; returns their texts.
fn certificate(name: &str) -> (String, String) {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (key, certificate) = (path("key"), path("certificate"));
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "30",
        ])
        .args(["-subj", "/CN=test", "-addext", &format!("subjectAltName={name}")])
        .args(["-addext", "basicConstraints=critical,CA:FALSE", "-keyout", &key, "-out", &certificate])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    (std::fs::read_to_string(key).unwrap(), std::fs::read_to_string(certificate).unwrap())
}

/// Returns a member who trusts a certificate and asks for encryption.
fn member(server: &Postgres, role: &str, trusted: Option<&str>, mode: &str) -> Member {
    let member = Member::with(server, role, SHOP, "");
    let file = member.live.sandbox.path("home/trusted.pem");
    let mut settings = format!(
        "[team]\nurl = \"postgres://{role}@127.0.0.1:{}/team?sslmode={mode}\"\nrepositories = \"*\"\ntags = \"team\"\n",
        server.port
    );
    if let Some(text) = trusted {
        std::fs::write(&file, text).unwrap();
        settings += &format!("certificate = \"{}\"\n", file.display());
    }
    std::fs::write(member.live.sandbox.path("home/.config/memod/config.toml"), settings).unwrap();
    member.live.kill();
    member.live.start();
    member
}

/// Returns why an exchange fails.
fn failure(member: &Member) -> String {
    let output = member.live.memo(&["team", "push"]).output().unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn only_a_server_that_is_vouched_for_gets_memories() {
    if Command::new("openssl").arg("version").output().is_err() {
        not_checked("encrypted teams: there is no openssl to make certificates with");
        return;
    }
    let Some(server) = Postgres::start() else { return };
    let ours = certificate("IP:127.0.0.1");
    let plain = member(&server, "admin", Some(&ours.1), "require");
    let said = failure(&plain);
    assert!(said.contains("does not support TLS"), "{said}");

    server.encrypt(&ours.0, &ours.1);
    let ann = member(&server, "admin", Some(&ours.1), "verify-full");
    ann.add("over an encrypted connection");
    assert_eq!(ann.sync()["unsent"], 0);
    let encrypted = "SELECT bool_and(s.ssl) FROM pg_stat_ssl s JOIN pg_stat_activity a USING(pid) WHERE application_name = 'memod'";
    assert_eq!(server.sql("admin", "team", encrypted), "t");

    let (_, others) = certificate("IP:127.0.0.1");
    let stranger = member(&server, "admin", Some(&others), "require");
    stranger.add("for nobody else");
    let said = failure(&stranger);
    assert!(said.contains("certificate"), "{said}");
    let of_system = member(&server, "admin", None, "require");
    let said = failure(&of_system);
    assert!(said.contains("certificate"), "{said}");

    let (key, elsewhere) = certificate("DNS:db.example.com");
    server.encrypt(&key, &elsewhere);
    let misled = member(&server, "admin", Some(&elsewhere), "require");
    let said = failure(&misled);
    assert!(said.contains("certificate") && said.contains("name"), "{said}");
    assert_eq!(
        server.sql("admin", "team", "SELECT count(*) FROM memod.version"),
        "1",
        "nothing was sent to strangers"
    );
}
