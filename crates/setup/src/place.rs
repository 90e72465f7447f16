//! Finds the settings directories of agents on each platform.

use std::path::{Path, PathBuf};

use memod_base::paths::{Env, canonicalize_path};

/// A file or directory relative to a [`BaseDir`].
#[derive(Clone, Copy, Debug)]
pub(super) struct AgentPath {
    base: BaseDir,
    path: &'static str,
}

/// The directory to which an [`AgentPath`] is relative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BaseDir {
    /// The user's home directory.
    Home,
    /// `$XDG_CONFIG_HOME`, or `~/.config`, on all platforms: for agents that use this directory everywhere.
    Config,
    /// `$CLAUDE_CONFIG_DIR`, or `~/.claude`.
    Claude,
    /// `$CLAUDE_CONFIG_DIR`, or the home directory.
    ClaudeState,
    /// `$CODEX_HOME`, or `~/.codex`.
    Codex,
    /// The directory of VS Code's user settings.
    VsCode,
    /// The directory of Zed's settings.
    Zed,
    /// The top of the worktree.
    Project,
}

/// Creates the path of a file relative to a base.
pub(super) const fn agent_path(base: BaseDir, path: &'static str) -> AgentPath {
    AgentPath { base, path }
}

/// The directories in which agents have their settings, and those that a run needs besides.
#[derive(Clone, Debug)]
pub struct SetupDirs {
    home: PathBuf,
    config: PathBuf,
    app_config: PathBuf,
    claude: Option<PathBuf>,
    codex: Option<PathBuf>,
    /// The top of the worktree, or the directory outside git.
    pub(super) project: PathBuf,
    /// The directory in which we record what was inserted into settings files.
    pub(super) records: PathBuf,
    /// The directories in which programs are looked for.
    pub(super) search_path: Vec<PathBuf>,
}

impl SetupDirs {
    /// Returns the directories of this user and of a project; `None` if the home directory is unknown.
    pub fn new(env: &Env, project: &Path) -> Option<Self> {
        let home = env.home.clone()?;
        let config = env.config_home.clone().unwrap_or_else(|| home.join(".config"));
        let app_config = if cfg!(target_os = "macos") {
            home.join("Library").join("Application Support")
        } else if cfg!(windows) {
            env.app_data.clone().unwrap_or_else(|| home.join("AppData").join("Roaming"))
        } else {
            config.clone()
        };
        Some(Self {
            config,
            app_config,
            claude: env.claude_config_dir.clone(),
            codex: env.codex_home.clone(),
            project: project.to_owned(),
            records: env.state_home().join("memod").join("setup"),
            search_path: env.search_path.clone(),
            home,
        })
    }

    /// Returns the absolute path of a file or directory.
    pub(super) fn resolve_path(&self, place: AgentPath) -> PathBuf {
        let base = match place.base {
            BaseDir::Home => self.home.clone(),
            BaseDir::Config => self.config.clone(),
            BaseDir::Claude => self.claude.clone().unwrap_or_else(|| self.home.join(".claude")),
            BaseDir::ClaudeState => self.claude.clone().unwrap_or_else(|| self.home.clone()),
            BaseDir::Codex => self.codex.clone().unwrap_or_else(|| self.home.join(".codex")),
            BaseDir::VsCode => self.app_config.join("Code").join("User"),
            BaseDir::Zed if cfg!(windows) => self.app_config.join("Zed"),
            BaseDir::Zed => self.config.join("zed"),
            BaseDir::Project => self.project.clone(),
        };
        // The names are joined one by one, so that the path has the separator of the platform.
        place.path.split('/').filter(|name| !name.is_empty()).fold(base, |path, name| path.join(name))
    }

    /// Returns a path for display: relative to the project, or with `~` for the home directory.
    pub(super) fn display_path(&self, path: &Path) -> String {
        if let Ok(rest) = path.strip_prefix(&self.project) {
            return rest.display().to_string();
        }
        match path.strip_prefix(&self.home) {
            Ok(rest) => Path::new("~").join(rest).display().to_string(),
            Err(_) => path.display().to_string(),
        }
    }

    /// Returns a path of `program` that stays valid after an update: the path with its name in `$PATH`, often a link, if that leads
    /// to the same file; otherwise `program` itself.
    pub fn stable_path(&self, program: &Path) -> PathBuf {
        let linked = program.file_stem().and_then(|name| self.find_program(name.to_str()?));
        linked.filter(|path| is_same_file(path, program)).unwrap_or_else(|| program.to_owned())
    }

    /// Returns the path of the first program with this name in `$PATH`.
    pub(super) fn find_program(&self, name: &str) -> Option<PathBuf> {
        let names: &[String] = &if cfg!(windows) {
            ["exe", "cmd", "bat"].map(|extension| format!("{name}.{extension}")).to_vec()
        } else {
            vec![name.to_owned()]
        };
        let candidates = self.search_path.iter().flat_map(|dir| names.iter().map(|name| dir.join(name)));
        candidates.into_iter().find(|path| path.is_file())
    }
}

/// Returns whether both paths lead to the same file.
fn is_same_file(path: &Path, other: &Path) -> bool {
    canonicalize_path(path).is_ok_and(|path| canonicalize_path(other).is_ok_and(|other| other == path))
}
