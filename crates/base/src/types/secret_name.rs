//! Recognises files that hold credentials by their names.
//!
//! Files with ambiguous names are not recognised here, so they stay searchable, and credentials in their texts are found
//! otherwise: `*.asc` (AsciiDoc, signatures and public keys far more often than private keys), `*.crt` and `*.cer` (public by
//! nature), `*.pub`.

/// Names of files that hold credentials in any directory.
const SECRET_FILE_NAMES: &[&str] = &[
    ".dockercfg",
    ".git-credentials",
    ".htpasswd",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    "_netrc",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    "id_rsa",
];

/// File extensions of private keys and keystores: PEM and PKCS files, Java and KeePass stores, PuTTY keys, VPN profiles.
const SECRET_EXTENSIONS: &[&str] =
    &["jks", "kdb", "kdbx", "key", "keystore", "ovpn", "p12", "p8", "pem", "pfx", "pk8", "pkcs12", "ppk"];

/// Names of directories in which every file holds credentials.
const SECRET_DIRECTORIES: &[&str] = &[".aws", ".gnupg", ".ssh"];

/// Names of a directory and a file that together mean credentials.
const SECRET_FILES_IN_DIRECTORY: &[(&str, &str)] = &[
    (".cargo", "credentials"),
    (".cargo", "credentials.toml"),
    (".docker", "config.json"),
    (".gem", "credentials"),
    (".kube", "config"),
];

/// Endings of a `.env` that is a template without credentials, or code that declares or reads it.
const TEMPLATE_SUFFIXES: &[&str] = &[
    ".dist",
    ".example",
    ".go",
    ".js",
    ".json5",
    ".md",
    ".mjs",
    ".py",
    ".rb",
    ".rs",
    ".sample",
    ".schema",
    ".template",
    ".ts",
];

/// Stems of `.key` files that hold the texts of a user interface, and no private key.
const TEXT_KEY_STEMS: &[&str] = &["i18n", "labels", "locale", "messages", "strings", "translations"];

/// Returns whether a worktree-relative path is that of a file with credentials, ignoring case.
pub fn is_secret_name(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let (dirs, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let parent = dirs.rsplit('/').next().unwrap_or(dirs);
    SECRET_FILE_NAMES.contains(&name)
        || path.split('/').any(is_env_file_name)
        || dirs.split('/').any(|dir| SECRET_DIRECTORIES.contains(&dir))
        || SECRET_FILES_IN_DIRECTORY.contains(&(parent, name))
        || name.rsplit_once('.').is_some_and(|(stem, extension)| {
            SECRET_EXTENSIONS.contains(&extension)
                && !(extension == "key" && TEXT_KEY_STEMS.iter().any(|text| stem.starts_with(text)))
        })
        || is_key_copy(name)
}

/// Returns whether a part of a path is `.env`, `.env.local`, `.envrc` or `.envs`, but not a template such as `.env.example`, and not
/// another word such as `.envoy`.
fn is_env_file_name(part: &str) -> bool {
    let Some(rest) = part.strip_prefix(".env") else { return false };
    let after = ["rc", "s"].iter().find_map(|ending| rest.strip_prefix(ending)).unwrap_or(rest);
    let is_whole = [rest, after].iter().any(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()));
    is_whole && !TEMPLATE_SUFFIXES.iter().any(|ending| rest.ends_with(ending))
}

/// Returns whether a file name is that of a copied private key, such as `id_rsa.bak`, but not of a public key, `id_rsa.pub`.
fn is_key_copy(name: &str) -> bool {
    name.split_once('.').is_some_and(|(stem, rest)| {
        stem.starts_with("id_") && SECRET_FILE_NAMES.contains(&stem) && !rest.ends_with("pub")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let check = |expected: bool, paths: &[&str]| {
            for path in paths {
                assert_eq!(is_secret_name(path), expected, "{path}");
            }
        };
        check(true, &[".env", ".env.local", ".ENV", "a/b/.env.production", ".envrc", ".envs/prod/postgres"]);
        check(false, &[".env.example", "a/.env.sample", ".env.template", ".env.dist", ".env.local.example"]);
        check(false, &["env", "env.rs", "src/environment.rs", "a.env.md"]);
        check(false, &[".envoy/a.yaml", ".environments/prod.ts", ".env.d.ts", ".env.schema", ".environment"]);
        check(true, &[".env-prod", ".env_local", ".env~", ".env.local.bak", ".env.d/prod", ".envrc.private"]);
        check(true, &["id_rsa", "keys/id_ed25519", "id_rsa.bak", "ID_DSA", "id_ecdsa_sk"]);
        check(false, &["id_rsa.pub", "id_rsa_test.go", "src/id.rs", "id_rsa.old.pub"]);
        check(true, &["server.pem", "tls/a.key", "a.p12", "b.PFX", "c.jks", "d.keystore", "e.kdbx", "f.ppk"]);
        check(false, &["messages.key", "i18n/messages_de.key", "strings.key"]);
        check(true, &["master.key", "config/credentials/prod.key", "my-messages.key"]);
        check(false, &["key", "key.rs", "pem/mod.rs", "book.asc", "ca.crt", "keystore.rs"]);
        check(
            true,
            &[".netrc", "_netrc", ".npmrc", "web/.npmrc", ".pypirc", ".git-credentials", ".htpasswd"],
        );
        check(
            true,
            &[".aws/config", "home/.ssh/config", ".gnupg/x/y", ".docker/config.json", ".kube/config"],
        );
        check(
            false,
            &["aws/config", "ssh/config", ".docker/Dockerfile", "kube/config", "config.json", "config"],
        );
        check(false, &["", "/", "README.md", ".gitignore", ".cargo/config.toml"]);
    }
}
