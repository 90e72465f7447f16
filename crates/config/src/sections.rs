//! Declares the sections of the settings.

use memod_memory::tiers::Lifetimes;

/// Settings of the daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DaemonSettings {
    /// Minutes without a client after which the daemon exits; 0 means never.
    pub idle_exit_minutes: u64,
    /// Lowest level of messages that are logged: `error`, `warn`, `info`, `debug` or `trace`.
    pub log: String,
}

/// Settings of the watcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchSettings {
    /// Quiet milliseconds before a batch of changed files is indexed.
    pub settle_ms: u64,
    /// Milliseconds after which a batch is indexed although changes go on.
    pub settle_max_ms: u64,
    /// Whether files are polled instead of subscribing to events of the operating system.
    pub poll: bool,
}

/// Settings of search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchSettings {
    /// Maximum number of hits, 1 to 200.
    pub limit: u64,
    /// Minimum score of a hit, 0 to 1.
    pub threshold: f64,
    /// Minimum cosine of a text that is found by its vector, 0.25 to 1.
    pub min_cosine: f64,
    /// Maximum time that a search waits for a fresh index, ms.
    pub wait_ms: u64,
    /// Whether the language model suggests other words for each search.
    pub expand: bool,
}

/// Settings of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexSettings {
    /// Days for which contents are kept that no worktree has any more.
    pub keep_days: u64,
    /// Size above which a file is skipped, bytes.
    pub max_file_bytes: u64,
    /// Number of newest commits of each worktree that are indexed; 0: none.
    pub commits: u64,
    /// Total size up to which vectors are kept in memory, MiB.
    pub vector_memory_mb: u64,
}

/// Settings of the models for vectors and for reranking.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchModelSettings {
    /// Name of the model that makes vectors: `builtin`, or an installed model.
    pub name: String,
    /// Name of the cross-encoder that reranks hits; empty: any that is installed.
    pub reranker: String,
    /// Path of the library of ONNX Runtime; empty: memod searches for the library.
    pub runtime: String,
    /// Directory of installed models; empty: the user's cache directory.
    pub cache_dir: String,
    /// Address of the package index with ONNX Runtime; empty: the one that the environment names, or PyPI.
    pub index: String,
    /// Address of the hub with models; empty: the one that the environment names, or Hugging Face.
    pub hub: String,
}

/// Settings of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UiSettings {
    /// Command that shows long answers; `auto`: the pager of git, `off`: none.
    pub pager: String,
}

/// Settings of git's hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AutostartSettings {
    /// Whether a hook starts the daemon when none runs.
    pub autostart: bool,
}

/// Settings of memories.
#[derive(Clone, Debug, PartialEq)]
pub struct MemorySettings {
    /// Container of a memory that is added without one; `auto`: the container named after the repository.
    pub container: String,
    /// Minutes that a memory of tier `short` lasts.
    pub short_minutes: u64,
    /// Minutes that a memory of tier `mid` lasts.
    pub mid_minutes: u64,
    /// Minutes that each recall adds to the lifetime of a memory of tier `short`.
    pub short_extension_minutes: u64,
    /// Minutes that each recall adds to the lifetime of a memory of tier `mid`.
    pub mid_extension_minutes: u64,
    /// Number of recalls after which a memory of tier `mid` becomes `long`.
    pub promote_at: u64,
    /// Whether a text that nearly repeats a memory is refused.
    pub refuse_near: bool,
    /// Minimum cosine of texts that count as nearly repeating each other.
    pub near_cosine: f64,
    /// What happens to an expired memory: `archive` or `purge`.
    pub on_expiry: String,
}

impl MemorySettings {
    /// Returns how long memories last.
    pub fn lifetimes(&self) -> Lifetimes {
        Lifetimes {
            short_minutes: self.short_minutes,
            mid_minutes: self.mid_minutes,
            short_extension_minutes: self.short_extension_minutes,
            mid_extension_minutes: self.mid_extension_minutes,
            promote_at: self.promote_at,
        }
    }
}

/// Settings of memories that are shared through files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShareSettings {
    /// Tags, with commas between them; a memory with one of them is shared through a file when it is written.
    pub tags: String,
    /// Containers, with commas between them; a memory in one of them is shared through a file when it is written.
    pub containers: String,
}

/// Settings of a team and its server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TeamSettings {
    /// Address of the team's PostgreSQL server, without a password; empty: there is no team.
    pub url: String,
    /// Repositories that take part, with commas between them: names, or beginnings of names followed by `*`.
    pub repositories: String,
    /// Other repositories of the team whose memories are searched here, too, written in the same way.
    pub follow: String,
    /// PEM file with the certificates that vouch for the server; empty: the certificates of the system.
    pub certificate: String,
    /// Tags, with commas between them; a memory with one of them is shared with the team when it is written.
    pub tags: String,
    /// Containers, with commas between them; a memory in one of them is shared with the team when it is written.
    pub containers: String,
}

/// Settings of the language model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LlmSettings {
    /// Address of a server with chat completions; empty: no language model is asked.
    pub url: String,
    /// Name of the language model; empty: the server chooses.
    pub model: String,
    /// Name of the environment variable that has the server's key; empty: no key is sent.
    pub key_env: String,
    /// Whether the language model may be asked, if there is an address.
    pub enabled: bool,
    /// Whether texts may cross a network unencrypted.
    pub plain_http: bool,
    /// Maximum number of tokens in a day, in all repositories of the user together.
    pub tokens_a_day: u64,
    /// Milliseconds that a search waits for the language model.
    pub timeout_ms: u64,
    /// Seconds that everything other than a search waits for the language model.
    pub task_seconds: u64,
}
