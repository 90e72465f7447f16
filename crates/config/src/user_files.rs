//! Names the files of the user's settings.

use std::path::PathBuf;

/// Returns the file of the user's own settings, in the platform's config directory.
///
/// None when there is no home directory.
pub fn user_file() -> Option<PathBuf> {
    use etcetera::BaseStrategy;
    let base = etcetera::choose_base_strategy().ok()?;
    Some(base.config_dir().join("memod").join("config.toml"))
}

/// Returns the file with the user's passwords of team servers.
///
/// None when there is no home directory.
pub fn team_passwords() -> Option<PathBuf> {
    Some(user_file()?.with_file_name("pgpass"))
}

/// Returns the password file of libpq: `PGPASSFILE`, or `.pgpass` in the home directory.
pub fn libpq_passwords() -> Option<PathBuf> {
    let named = std::env::var_os("PGPASSFILE").map(PathBuf::from);
    named.or_else(|| Some(etcetera::home_dir().ok()?.join(".pgpass")))
}
