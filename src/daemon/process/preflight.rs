//! Checks whether a daemon could start, while another daemon serves.

use std::path::Path;

use memod_base::paths::{Env, IoContext as _, PathError, RepoLayout, is_writable_dir, open_private_file};
use memod_index_db::check_index;
use memod_memory_db::check_memory_schema;

use crate::daemon::process::daemon_lock;
use crate::daemon::process::program_path;

/// Checks the files and directories that a daemon needs to serve the repository around `root`, as [`run`](crate::daemon::run)
/// does, but takes neither the lock nor the socket. Creates missing directories and files, and does not migrate a database, so
/// a start may still fail afterwards because the disk has no room for a migration.
///
/// # Errors
/// When a daemon would not start; the error says why.
pub fn check_start(root: &Path) -> anyhow::Result<()> {
    let env = Env::read();
    let layout = RepoLayout::locate(root, &env)?;
    layout.create_state_dir()?;
    memod_config::load_settings(Some(&layout))?;
    program_path::program_path()?;
    let socket = daemon_lock::prepare_socket_path(&layout, &env)?;
    for dir in [Some(layout.state_dir.as_path()), socket.parent().filter(|_| !cfg!(windows))] {
        dir.map_or(Ok(()), check_writable)?;
    }
    for file in [layout.daemon_lock_file(), layout.log_file()] {
        open_private_file(&file).at("open", &file)?;
    }
    check_index(&layout.index_file())?;
    check_memory_schema(&layout.state_dir.join("memory.db"))?;
    Ok(())
}

fn check_writable(dir: &Path) -> Result<(), PathError> {
    if is_writable_dir(dir) {
        Ok(())
    } else {
        Err(std::io::ErrorKind::PermissionDenied.into()).at("write in", dir)
    }
}
