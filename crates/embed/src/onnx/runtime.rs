//! Finds the library of ONNX Runtime.

use std::path::{Path, PathBuf};

use memod_base::paths::effective_uid;

use super::OnnxError;

/// File name of the library.
#[cfg(target_os = "macos")]
pub const LIBRARY: &str = "libonnxruntime.dylib";
/// File name of the library.
#[cfg(windows)]
pub const LIBRARY: &str = "onnxruntime.dll";
/// File name of the library.
#[cfg(not(any(target_os = "macos", windows)))]
pub const LIBRARY: &str = "libonnxruntime.so";

/// The places that are searched for the library, in this order; the directories of the system come last.
#[derive(Clone, Debug, Default)]
pub struct RuntimeLocations {
    /// `$ORT_DYLIB_PATH`.
    pub from_variable: Option<PathBuf>,
    /// The setting `model.runtime`.
    pub from_setting: Option<PathBuf>,
    /// The directory of all caches of memod.
    pub cache_dir: PathBuf,
}

/// Library directories of the system.
const SYSTEM_LIBRARY_DIRS: &[&str] = &[
    "/usr/local/lib",
    "/usr/lib",
    "/usr/lib64",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/opt/homebrew/lib",
    "/opt/onnxruntime/lib",
];

impl RuntimeLocations {
    /// Returns the path of the library, without loading it.
    ///
    /// # Errors
    /// When the variable or the setting names a missing file, or the library is in none of the places.
    pub fn find_library(&self) -> Result<PathBuf, OnnxError> {
        for (named, by) in [(&self.from_variable, "ORT_DYLIB_PATH"), (&self.from_setting, "model.runtime")] {
            if let Some(path) = named {
                let path = if path.is_dir() {
                    library_in(path).unwrap_or_else(|| path.join(LIBRARY))
                } else {
                    path.clone()
                };
                return match path.is_file() {
                    true => Ok(path),
                    false => {
                        let why = format!("{by} names {}, which is no file", path.display());
                        Err(OnnxError::NoRuntime(why))
                    }
                };
            }
        }
        // Without a home directory, the cache is below a temporary directory, where another user may have created it.
        let own =
            Some(self.fetched_library_dir()).filter(|dir| is_own_dir(&self.cache_dir) && is_own_dir(dir));
        let dirs = own.into_iter().chain(SYSTEM_LIBRARY_DIRS.iter().map(PathBuf::from));
        dirs.into_iter().find_map(|dir| library_in(&dir)).ok_or_else(|| {
            let own = self.fetched_library_dir();
            OnnxError::NoRuntime(format!(
                "it is neither in {} nor in the library directories of the system",
                own.display()
            ))
        })
    }

    /// Returns whether the variable or the setting names the library.
    pub fn is_configured(&self) -> bool {
        self.from_variable.is_some() || self.from_setting.is_some()
    }

    /// Returns the directory into which memod downloads the library.
    pub fn fetched_library_dir(&self) -> PathBuf {
        self.cache_dir.join("onnxruntime")
    }
}

/// Returns whether a directory belongs to the user of this process.
fn is_own_dir(dir: &Path) -> bool {
    is_owned_by(dir, effective_uid())
}

/// Returns whether the user `uid` owns a directory, and also the link if `dir` is a symbolic link.
#[cfg(unix)]
fn is_owned_by(dir: &Path, uid: u32) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::symlink_metadata(dir).is_ok_and(|metadata| metadata.uid() == uid)
        && std::fs::metadata(dir).is_ok_and(|metadata| metadata.uid() == uid)
}

#[cfg(not(unix))]
fn is_owned_by(_: &Path, _: u32) -> bool {
    true
}

/// Returns the path of the library in a directory: the plain file name, or else the last name with a version at the end.
fn library_in(dir: &Path) -> Option<PathBuf> {
    let plain = dir.join(LIBRARY);
    if plain.is_file() {
        return Some(plain);
    }
    let entries = std::fs::read_dir(dir).ok()?.flatten();
    let versioned = format!("{LIBRARY}.");
    entries.filter(|entry| has_prefix(entry, &versioned)).map(|entry| entry.path()).max()
}

/// Returns whether the file name of a directory entry begins with `prefix`.
fn has_prefix(entry: &std::fs::DirEntry, prefix: &str) -> bool {
    entry.file_name().to_string_lossy().starts_with(prefix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_directory_of_another_user_is_left_alone() {
        use std::os::unix::fs::MetadataExt as _;
        let temp = tempfile::tempdir().unwrap();
        assert!(is_owned_by(temp.path(), effective_uid()));
        let owner = std::fs::metadata(temp.path()).unwrap().uid();
        assert!(!is_owned_by(temp.path(), owner + 1));
        let (own, dangling) = (temp.path().join("own"), temp.path().join("foreign"));
        std::os::unix::fs::symlink(temp.path(), &own).unwrap();
        std::os::unix::fs::symlink(temp.path().join("absent"), &dangling).unwrap();
        assert!(
            is_owned_by(&own, owner) && !is_owned_by(&dangling, owner),
            "what a link leads to counts too"
        );
        assert!(!is_owned_by(&temp.path().join("absent"), owner));
    }

    #[test]
    fn what_is_named_comes_before_what_is_found() {
        let temp = tempfile::tempdir().unwrap();
        let (own, named) = (temp.path().join("onnxruntime"), temp.path().join("named"));
        for (dir, name) in [(&own, format!("{LIBRARY}.1.32.0")), (&named, LIBRARY.to_owned())] {
            std::fs::create_dir(dir).unwrap();
            std::fs::write(dir.join(name), "").unwrap();
        }
        let mut runtime =
            RuntimeLocations { cache_dir: temp.path().to_owned(), ..RuntimeLocations::default() };
        assert_eq!(runtime.find_library().unwrap(), own.join(format!("{LIBRARY}.1.32.0")));
        runtime.from_setting = Some(named.clone());
        assert_eq!(runtime.find_library().unwrap(), named.join(LIBRARY), "a directory may be named");
        runtime.from_variable = Some(temp.path().join("gone.so"));
        let error = runtime.find_library().unwrap_err().to_string();
        assert!(error.contains("ORT_DYLIB_PATH names") && error.contains("gone.so"), "{error}");
    }
}
