//! Returns the paths of the user's settings and password files.

use std::path::PathBuf;

/// Returns the path of the user's own settings file, in the platform's config directory; `None` without a home directory.
pub fn user_settings_file() -> Option<PathBuf> {
    use etcetera::BaseStrategy;
    let base = etcetera::choose_base_strategy().ok()?;
    Some(base.config_dir().join("memod").join("config.toml"))
}

/// Returns the path of memod's file with the user's passwords for team servers; `None` without a home directory.
pub fn team_password_file() -> Option<PathBuf> {
    Some(user_settings_file()?.with_file_name("pgpass"))
}

/// Returns the path of libpq's password file: `PGPASSFILE`, or `.pgpass` in the home directory; `None` without either.
pub fn libpq_password_file() -> Option<PathBuf> {
    let named = std::env::var_os("PGPASSFILE").map(PathBuf::from);
    named.or_else(|| Some(etcetera::home_dir().ok()?.join(".pgpass")))
}
