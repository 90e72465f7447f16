//! Writes the daemon's log into two files of limited size.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use super::lock::private_file;
use crate::paths::{IoContext, PathError};

/// Two files of this size are kept: `memod.log` and `memod.log.1`.
const MAX_BYTES: u64 = 5 << 20;

/// Writes everything at or above `level` to the file.
pub(super) fn start(path: &Path, level: &str) -> Result<(), PathError> {
    let log = Log { shared: Arc::new(Mutex::new(Rotating::open(path).at("open", path)?)) };
    let filter = EnvFilter::try_new(level).unwrap_or_else(|_| EnvFilter::new("info"));
    // This fails only if a subscriber is set already, in a process that runs several daemons.
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(log).try_init();
    std::panic::set_hook(Box::new(|panic| tracing::error!(%panic, "panic")));
    Ok(())
}

#[derive(Clone)]
struct Log {
    shared: Arc<Mutex<Rotating>>,
}

struct Rotating {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl Rotating {
    fn open(path: &Path) -> io::Result<Self> {
        let mut file = private_file(path)?;
        let bytes = file.seek(SeekFrom::End(0))?;
        Ok(Self { path: path.to_owned(), file, bytes })
    }
}

impl Write for Rotating {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        if self.bytes + buffer.len() as u64 > MAX_BYTES {
            std::fs::rename(&self.path, self.path.with_extension("log.1"))?;
            *self = Self::open(&self.path)?;
        }
        let n_written = self.file.write(buffer)?;
        self.bytes += n_written as u64;
        Ok(n_written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Write for Log {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_log_moves_aside_and_two_files_are_kept() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("memod.log");
        let mut log = Rotating::open(&path).unwrap();
        let line = vec![b'x'; 1 << 20];
        for _ in 0..12 {
            log.write_all(&line).unwrap();
        }
        let size = |name: &str| std::fs::metadata(temp.path().join(name)).unwrap().len();
        assert_eq!((size("memod.log"), size("memod.log.1")), (2 << 20, 5 << 20));
    }
}
