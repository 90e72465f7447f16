//! Writes the daemon's log into two files of limited size.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use memod_base::paths::{IoContext, PathError};
use memod_base::threads::lock;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use memod_base::paths::open_private_file;

/// Maximum size of each of the two log files, `memod.log` and `memod.log.1`, bytes.
const MAX_BYTES: u64 = 5 << 20;

/// Starts to write log messages at or above `level`, and panics, to a file.
pub(in crate::daemon) fn start_logging(path: &Path, level: &str) -> Result<(), PathError> {
    let log = DaemonLog::new(RotatingFile::open(path).at("open", path)?);
    // ureq logs URLs, and a query of a URL may contain a key.
    let quiet = "ureq=warn".parse().expect("a directive");
    let filter = EnvFilter::try_new(level).unwrap_or_else(|_| EnvFilter::new("info")).add_directive(quiet);
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(log);
    // By default, tracing reports a failed write with a macro that panics if stderr cannot be written either, as on a full disk;
    // and the panic hook below would panic again.
    let lines = lines.log_internal_errors(false);
    // This fails only if a subscriber is set already, as in a test process that runs several daemons.
    let _ = lines.try_init();
    std::panic::set_hook(Box::new(|panic| tracing::error!(%panic, "panic")));
    Ok(())
}

/// A handle to the log, which all threads share.
#[derive(Clone)]
struct DaemonLog {
    shared: Arc<Mutex<LossCountingLog>>,
}

/// Writes lines to the log, and counts lines that could not be written. The next successful write begins with their number.
struct LossCountingLog {
    log: RotatingFile,
    n_lost: u64,
}

impl DaemonLog {
    fn new(log: RotatingFile) -> Self {
        Self { shared: Arc::new(Mutex::new(LossCountingLog { log, n_lost: 0 })) }
    }
}

/// A log file that is renamed, and replaced by a new one, when it becomes too large.
struct RotatingFile {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl RotatingFile {
    fn open(path: &Path) -> io::Result<Self> {
        let mut file = open_private_file(path)?;
        let bytes = file.seek(SeekFrom::End(0))?;
        Ok(Self { path: path.to_owned(), file, bytes })
    }

    /// Renames the file to `memod.log.1`, and opens a new one.
    fn rotate(&self) -> Result<Self, PathError> {
        match std::fs::rename(&self.path, self.path.with_extension("log.1")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {} // renamed or deleted meanwhile
            renamed => renamed.at("rename", &self.path)?,
        }
        Self::open(&self.path).at("open", &self.path)
    }
}

impl Write for RotatingFile {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        if self.bytes + buffer.len() as u64 > MAX_BYTES {
            match self.rotate() {
                Ok(next) => *self = next,
                Err(error) => {
                    self.bytes = 0; // rotating is tried again after another `MAX_BYTES`
                    let _ = writeln!(
                        self.file,
                        "the log cannot be rotated, so it continues in this file: {error}"
                    ); // a failure here cannot be reported anywhere
                }
            }
        }
        let n_written = self.file.write(buffer)?;
        self.bytes += n_written as u64;
        Ok(n_written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl LossCountingLog {
    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        if self.n_lost > 0 {
            // The last line may have been written in part.
            writeln!(self.log, "\nlines that could not be written: {}", self.n_lost)?;
            self.n_lost = 0;
        }
        self.log.write_all(line)
    }
}

impl Write for DaemonLog {
    /// Never fails, because the daemon continues without its log.
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let mut lines = lock(&self.shared);
        if lines.write(buffer).is_err() {
            lines.n_lost += 1;
        }
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for DaemonLog {
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
        let mut log = RotatingFile::open(&path).unwrap();
        let line = vec![b'x'; 1 << 20];
        for _ in 0..12 {
            log.write_all(&line).unwrap();
        }
        let size = |name: &str| std::fs::metadata(temp.path().join(name)).unwrap().len();
        assert_eq!((size("memod.log"), size("memod.log.1")), (2 << 20, 5 << 20));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_line_that_cannot_be_written_is_counted_and_fails_nobody() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("memod.log");
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut log = DaemonLog::new(RotatingFile { path: path.clone(), file: full, bytes: 0 });
        for _ in 0..3 {
            log.write_all(b"a line\n").expect("it is not told");
        }
        lock(&log.shared).log.file = File::create(&path).unwrap();
        log.write_all(b"with room\n").unwrap();
        log.write_all(b"and again\n").unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "\nlines that could not be written: 3\nwith room\nand again\n");
    }

    #[test]
    fn a_log_that_cannot_move_aside_goes_on_and_says_so_once() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("memod.log");
        std::fs::create_dir(temp.path().join("memod.log.1")).unwrap();
        let mut log = RotatingFile::open(&path).unwrap();
        let line = [vec![b'x'; (1 << 20) - 1], vec![b'\n']].concat();
        for _ in 0..8 {
            log.write_all(&line).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let is_said = |line: &&str| {
            line.starts_with("the log cannot be rotated, so it continues in this file: rename ")
        };
        assert_eq!((text.lines().count(), text.lines().filter(is_said).count()), (9, 1));
        std::fs::remove_dir(temp.path().join("memod.log.1")).unwrap();
        std::fs::remove_file(&path).unwrap();
        for _ in 0..3 {
            log.write_all(&line).unwrap();
        }
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 1 << 20, "a log that was deleted begins anew");
    }
}
