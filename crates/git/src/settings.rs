//! Reads git's settings: those that affect which files git lists and how it compares them, who writes, and which hooks run.

pub(crate) mod hook_settings;
pub(crate) mod identity;
pub(crate) mod user_rules;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use gix::config::file::Metadata;
use gix::config::file::includes::{self, conditional};
use gix::config::file::init;
use gix::config::path::interpolate;
use gix::config::{File, Source};
use gix::hash::Kind as ObjectHash;
use memod_base::paths::{PathError, RepoLayout, is_transient, read_regular};

use super::special::refuse_special_file;
use crate::git_error::{GitError, find_system_error};
use crate::refs::head::read_head;

/// Deepest nesting of included files; the same as git's.
const MOST_INCLUDES: u8 = 10;

/// Locations of the user's and the system's configuration. They are read once when the program starts, and passed in.
#[derive(Clone, Debug, Default)]
pub struct UserDirs {
    /// `$HOME`.
    pub home: Option<PathBuf>,
    /// `$XDG_CONFIG_HOME`.
    pub config_home: Option<PathBuf>,
    /// The system's configuration file.
    pub system_config: Option<PathBuf>,
}

impl UserDirs {
    /// Reads the environment of this process. Ignores `GIT_*` variables, which a hook sets for its own worktree.
    pub fn read() -> Self {
        Self {
            home: env_path("HOME").or_else(|| env_path("USERPROFILE")),
            config_home: env_path("XDG_CONFIG_HOME"),
            system_config: cfg!(unix).then(|| PathBuf::from("/etc/gitconfig")),
        }
    }

    /// Returns the configuration files of the system and the user, existing or not, in git's order.
    pub fn config_files(&self) -> Vec<PathBuf> {
        self.config_sources().into_iter().filter_map(|(_, path)| path).collect()
    }

    /// Returns the configuration files of the system and the user with their sources, in git's order.
    fn config_sources(&self) -> [(Source, Option<PathBuf>); 3] {
        [
            (Source::System, self.system_config.clone()),
            (Source::Git, self.xdg_file("config")),
            (Source::User, self.home.as_ref().map(|home| home.join(".gitconfig"))),
        ]
    }

    /// Returns `$XDG_CONFIG_HOME/git/<name>`, or its default below the home directory.
    pub(super) fn xdg_file(&self, name: &str) -> Option<PathBuf> {
        let config_home = self.config_home.clone().or_else(|| Some(self.home.as_ref()?.join(".config")))?;
        Some(config_home.join("git").join(name))
    }
}

/// The settings that affect which files git lists, and how it compares them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `core.excludesFile` as an absolute path, or its default path; the file may not exist.
    pub excludes_file: Option<PathBuf>,
    /// `core.attributesFile` as an absolute path, or its default path; the file may not exist.
    pub attributes_file: Option<PathBuf>,
    /// Names of the filters that convert a content when git stores it, or that git requires to; git ignores all other
    /// filters.
    pub filters: BTreeSet<String>,
    /// `blame.ignoreRevsFile` as absolute paths: files of commits that `git blame` passes over.
    pub ignored_commits_files: Vec<PathBuf>,
    /// `core.ignoreCase`.
    pub ignore_case: bool,
    /// `core.fileMode`: whether the permission to execute counts.
    pub file_mode: bool,
    /// `core.symlinks`: whether a file in the place of a symbolic link is another type.
    pub symlinks: bool,
    /// Whether a sparse checkout is set up by directories, and not by patterns; `None` if there is no sparse checkout.
    pub sparse_cone: Option<bool>,
    /// `extensions.objectFormat`.
    pub object_hash: ObjectHash,
    /// `core.bare` of this worktree; false for a linked worktree, which has files in any case.
    pub is_bare: bool,
    /// Every file that was read, and every included file, existing or not.
    pub files: Vec<PathBuf>,
}

impl Settings {
    /// Reads the settings of the system, the user, the repository and the worktree, and follows includes.
    ///
    /// # Errors
    /// When a file does not parse, the repository's own file is unreadable, or a read fails for the moment. The error names
    /// the file.
    pub fn read(layout: &RepoLayout, dirs: &UserDirs) -> Result<Self, GitError> {
        let (Some(config), Some(common_dir)) = (load_config(layout, dirs)?, &layout.common_dir) else {
            return Ok(Self::git_defaults(dirs));
        };
        Ok(Self {
            excludes_file: user_file(&config, "core.excludesFile", "ignore", &layout.root, dirs),
            attributes_file: user_file(&config, "core.attributesFile", "attributes", &layout.root, dirs),
            filters: list_filters(&config),
            ignored_commits_files: list_ignored_commits_files(&config, &layout.root, dirs),
            ignore_case: is_true(&config, "core.ignoreCase"),
            file_mode: config.boolean("core.fileMode").ok().flatten().unwrap_or(cfg!(unix)),
            symlinks: config.boolean("core.symlinks").ok().flatten().unwrap_or(cfg!(unix)),
            sparse_cone: is_true(&config, "core.sparseCheckout")
                .then(|| config.boolean("core.sparseCheckoutCone").ok().flatten().unwrap_or(true)),
            object_hash: read_object_hash(&config, common_dir)?,
            is_bare: is_true(&config, "core.bare") && layout.git_dir.as_ref() == Some(common_dir),
            files: list_config_files(&config, dirs),
        })
    }

    /// Returns the full name of the ref that tracks the upstream of a branch (`refs/heads/…`), if an upstream is set. Assumes
    /// the names of refs that `git clone` sets up.
    pub fn upstream_ref(layout: &RepoLayout, dirs: &UserDirs, branch: &str) -> Option<String> {
        let (git_dir, common_dir) = (layout.git_dir.as_ref()?, layout.common_dir.as_ref()?);
        let config = ConfigLoader { git_dir, branch: None, dirs }.load_files(common_dir).ok()?;
        let name = branch.strip_prefix("refs/heads/")?;
        let of_branch =
            |key: &str| config.string_by("branch", Some(name.into()), key).map(|value| value.to_string());
        let (remote, merge) = (of_branch("remote")?, of_branch("merge")?);
        if remote == "." {
            return Some(merge);
        }
        Some(format!("refs/remotes/{remote}/{}", merge.strip_prefix("refs/heads/")?))
    }

    /// Like [`Settings::read`], but returns git's defaults if a file is damaged or unreadable.
    ///
    /// # Errors
    /// When a read fails for the moment. The error names the file.
    pub fn read_or_default(layout: &RepoLayout, dirs: &UserDirs) -> Result<Self, GitError> {
        match Self::read(layout, dirs) {
            Err(error) if !error.is_transient() => Ok(Self::git_defaults(dirs)),
            read => read,
        }
    }

    /// Returns git's defaults.
    fn git_defaults(dirs: &UserDirs) -> Self {
        Self {
            excludes_file: dirs.xdg_file("ignore"),
            attributes_file: dirs.xdg_file("attributes"),
            filters: BTreeSet::new(),
            ignored_commits_files: Vec::new(),
            ignore_case: false,
            file_mode: cfg!(unix),
            symlinks: cfg!(unix),
            sparse_cone: None,
            object_hash: ObjectHash::Sha1,
            is_bare: false,
            files: Vec::new(),
        }
    }
}

/// Returns the paths of the ignore files outside the worktree, existing or not: the user's global ignore file and
/// `info/exclude`.
///
/// A change of one of them can change the set of indexed files.
pub fn list_exclude_files(layout: &RepoLayout, settings: &Settings) -> Vec<PathBuf> {
    let Some(common_dir) = &layout.common_dir else {
        return Vec::new();
    };
    settings.excludes_file.iter().cloned().chain([common_dir.join("info/exclude")]).collect()
}

/// Reads all settings files of the worktree; returns `None` outside git.
///
/// # Errors
/// See [`Settings::read`].
pub(super) fn load_config(layout: &RepoLayout, dirs: &UserDirs) -> Result<Option<File>, GitError> {
    let (Some(git_dir), Some(common_dir)) = (&layout.git_dir, &layout.common_dir) else {
        return Ok(None);
    };
    ConfigLoader { git_dir, branch: current_branch(layout), dirs }.load_files(common_dir).map(Some)
}

/// The context for loading any of a worktree's configuration files.
struct ConfigLoader<'a> {
    git_dir: &'a Path,
    branch: Option<gix::refs::FullName>,
    dirs: &'a UserDirs,
}

impl ConfigLoader<'_> {
    /// Loads every file in git's order; later values take precedence.
    fn load_files(&self, common_dir: &Path) -> Result<File, GitError> {
        let mut config = File::new(Metadata::api());
        for (source, path) in self.dirs.config_sources() {
            if let Some(path) = path {
                self.append_file(&mut config, source, &path)?;
            }
        }
        self.append_file(&mut config, Source::Local, &common_dir.join("config"))?;
        if is_true(&config, "extensions.worktreeConfig") {
            self.append_file(&mut config, Source::Worktree, &self.git_dir.join("config.worktree"))?;
        }
        Ok(config)
    }

    fn append_file(&self, config: &mut File, source: Source, path: &Path) -> Result<(), GitError> {
        let Some(mut bytes) = read_config_file(path, source)? else {
            return Ok(());
        };
        self.refuse_special_includes(path, &bytes, MOST_INCLUDES)?;
        let metadata = Metadata::from(source).at(path);
        let file = File::from_bytes_owned(&mut bytes, metadata, self.parse_options())
            .map_err(|error| config_error(&error, path))?;
        config.append(file).map_err(|error| config_error(&error, path))?;
        Ok(())
    }

    /// Refuses special files that a file includes, whether or not the condition of the include holds.
    fn refuse_special_includes(&self, path: &Path, bytes: &[u8], depth: u8) -> Result<(), GitError> {
        let metadata = Metadata::from(Source::Local).at(path);
        let alone = init::Options { includes: includes::Options::no_follow(), ..self.parse_options() };
        let Ok(file) = File::from_bytes_owned(&mut bytes.to_vec(), metadata, alone) else {
            return Ok(()); // the caller parses the file too, and reports the error
        };
        for included in list_config_files(&file, self.dirs).into_iter().filter(|included| included != path) {
            if included != Path::new("/dev/null") {
                refuse_special_file(&included)?;
            }
            if let Some(depth) = depth.checked_sub(1)
                && let Ok(bytes) = read_regular(&included)
            {
                self.refuse_special_includes(&included, &bytes, depth)?;
            }
        }
        Ok(())
    }

    /// Returns the options for parsing a file with its includes.
    fn parse_options(&self) -> init::Options<'_> {
        let conditional = conditional::Context {
            git_dir: Some(self.git_dir),
            branch_name: self.branch.as_ref().map(gix::refs::FullName::as_ref),
        };
        let includes = includes::Options::follow(interpolation_context(self.dirs), conditional);
        init::Options { includes, lossy: true, ignore_io_errors: true }
    }
}

/// Returns the path in a variable of the environment, unless it is empty.
fn env_path(name: &str) -> Option<PathBuf> {
    let value: Option<OsString> = std::env::var_os(name);
    value.filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Returns the error for a configuration file that does not parse, or that includes a file that cannot be read.
fn config_error(error: &gix::Error, path: &Path) -> GitError {
    find_system_error(error, path)
        .unwrap_or_else(|| GitError::Config { path: path.to_owned(), reason: error.to_string() })
}

/// Reads one configuration file; `None` if the file is absent, or if it is unreadable and not the repository's own, as git
/// ignores these cases.
fn read_config_file(path: &Path, source: Source) -> Result<Option<Vec<u8>>, GitError> {
    let is_local = matches!(source, Source::Local | Source::Worktree);
    match read_regular(path) {
        // A FIFO or a directory in the place of the file counts as absent.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(None),
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if !is_local && !is_transient(&error) => Ok(None),
        Err(source) => Err(PathError { action: "read", path: path.to_owned(), source }.into()),
    }
}

/// Returns the branch that `HEAD` is on.
fn current_branch(layout: &RepoLayout) -> Option<gix::refs::FullName> {
    read_head(layout).filter(|head| head.starts_with("refs/")).and_then(|head| head.try_into().ok())
}

fn interpolation_context(dirs: &UserDirs) -> interpolate::Context<'_> {
    interpolate::Context {
        git_install_dir: None,
        home_dir: dirs.home.as_deref(),
        home_for_user: Some(interpolate::home_for_user),
    }
}

pub(super) fn is_true(config: &File, key: &str) -> bool {
    config.boolean(key).ok().flatten().unwrap_or(false)
}

/// Returns the files that have sections, and the files that the sections include. Included files are listed even if they are
/// absent or empty, or if their condition does not hold, because that may change.
fn list_config_files(config: &File, dirs: &UserDirs) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    for section in config.sections() {
        let file = section.meta().path.clone();
        let name = section.header().name();
        if name.eq_ignore_ascii_case(b"include") || name.eq_ignore_ascii_case(b"includeIf") {
            let paths = section.values("path").into_iter().map(gix::config::Path::from);
            let paths = paths.filter_map(|path| path.interpolate(interpolation_context(dirs)).ok());
            let dir = file.as_deref().and_then(Path::parent).unwrap_or(Path::new("/"));
            files.extend(paths.map(|path| dir.join(path)));
        }
        files.extend(file);
    }
    files
}

/// Returns the path of the user's file that a setting names, or its default path if the setting is absent.
fn user_file(config: &File, key: &str, default: &str, root: &Path, dirs: &UserDirs) -> Option<PathBuf> {
    match config.path(key) {
        Some(_) => path_value(config, key, root, dirs),
        None => dirs.xdg_file(default),
    }
}

/// Returns the names of the filters that have a program to convert a content when git stores it, and of the required filters.
fn list_filters(config: &File) -> BTreeSet<String> {
    let sections = config.sections_by_name("filter").into_iter().flatten();
    let names = sections.filter_map(|section| Some(section.header().subsection_name()?.to_string()));
    let mut filters: BTreeSet<String> = names.collect();
    filters.retain(|name| {
        let required = config.boolean_by("filter", Some(name.as_str().into()), "required");
        is_filter_set(config, name, "clean")
            || is_filter_set(config, name, "process")
            || required.ok().flatten().unwrap_or(false)
    });
    filters
}

/// Returns the paths in `blame.ignoreRevsFile`; an empty value removes those before it.
fn list_ignored_commits_files(config: &File, root: &Path, dirs: &UserDirs) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in config.strings("blame.ignoreRevsFile").into_iter().flatten() {
        if path.is_empty() {
            files.clear();
        } else if let Ok(path) = gix::config::Path::from(path).interpolate(interpolation_context(dirs)) {
            files.push(root.join(path));
        }
    }
    files
}

/// Returns whether a setting of a filter has a value.
fn is_filter_set(config: &File, name: &str, key: &str) -> bool {
    config.string_by("filter", Some(name.into()), key).is_some_and(|value| !value.is_empty())
}

/// Returns the path in a setting; a relative path starts at the root of the worktree, where git runs.
pub(super) fn path_value(config: &File, key: &str, root: &Path, dirs: &UserDirs) -> Option<PathBuf> {
    let path = config.path(key)?.interpolate(interpolation_context(dirs)).ok()?;
    (!path.as_os_str().is_empty()).then(|| root.join(path))
}

/// Returns the hash function of the repository's object ids.
fn read_object_hash(config: &File, common_dir: &Path) -> Result<ObjectHash, GitError> {
    let Some(name) = config.string("extensions.objectFormat") else {
        return Ok(ObjectHash::Sha1);
    };
    let name = name.to_string();
    name.parse().map_err(|_| GitError::Config {
        path: common_dir.join("config"),
        reason: format!("object format {name} is not supported"),
    })
}
