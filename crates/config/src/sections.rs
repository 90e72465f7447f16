//! Declares the sections of the settings.

use memod_memory::tiers::Lifetimes;

/// Settings of the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DaemonSettings {
    /// Minutes without a client before it exits; 0 means never.
    pub idle_exit_minutes: u64,
    /// Least level that is logged: `error`, `warn`, `info`, `debug` or `trace`.
    pub log: String,
}

/// Settings of the watcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchSettings {
    /// Quiet milliseconds before a batch is processed.
    pub settle_ms: u64,
    /// Milliseconds after which it is processed anyway.
    pub settle_max_ms: u64,
    /// Poll instead of subscribing.
    pub poll: bool,
}

/// Settings of search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchSettings {
    /// Most hits, 1 to 200.
    pub limit: u64,
    /// Lowest score of a hit, 0 to 1.
    pub threshold: f64,
    /// Lowest cosine of a text that is found by its vector, 0.25 to 1.
    pub min_cosine: f64,
    /// Milliseconds that freshness may be waited for.
    pub wait_ms: u64,
    /// Whether a language model suggests other words, if there is one.
    pub expand: bool,
}

/// Settings of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexSettings {
    /// Days that unreferenced blobs are kept.
    pub keep_days: u64,
    /// Larger files are skipped, bytes.
    pub max_file_bytes: u64,
    /// Newest commits of each worktree that are indexed; 0: none.
    pub commits: u64,
    /// Vectors up to this size are kept in memory, MiB.
    pub vector_memory_mb: u64,
}

/// Settings of the model that makes vectors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelSettings {
    /// `builtin`, or an installed model.
    pub name: String,
    /// Cross-encoder that reranks; empty: any that is installed.
    pub reranker: String,
    /// Library of ONNX Runtime; empty: it is searched for.
    pub runtime: String,
    /// Directory of models; empty: the user's cache directory.
    pub cache_dir: String,
    /// Package index with ONNX Runtime; empty: that of the environment, or PyPI.
    pub index: String,
    /// Hub with models; empty: that of the environment, or Hugging Face.
    pub hub: String,
}

/// Settings of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UiSettings {
    /// Command that shows long answers; `auto`: git's, `off`: none.
    pub pager: String,
}

/// Settings of git's hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AutostartSettings {
    /// A hook starts the daemon when none runs.
    pub autostart: bool,
}

/// Settings of memories.
#[derive(Clone, Debug, PartialEq)]
pub struct MemorySettings {
    /// Container of a memory that is added without one; `auto`: that of the repository.
    pub container: String,
    /// Minutes that a memory of tier `short` lasts.
    pub short_minutes: u64,
    /// Minutes that a memory of tier `mid` lasts.
    pub mid_minutes: u64,
    /// Minutes that each recall adds to one of tier `short`.
    pub short_extension_minutes: u64,
    /// Minutes that each recall adds to one of tier `mid`.
    pub mid_extension_minutes: u64,
    /// The recall that makes one of tier `mid` a `long` one.
    pub promote_at: u64,
    /// Whether a text that nearly repeats a memory is refused.
    pub refuse_near: bool,
    /// Lowest cosine of texts that nearly repeat each other.
    pub near_cosine: f64,
    /// The fate of an expired memory: `archive` or `purge`.
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
    /// A memory with one of these tags is shared when it is written: names with commas between them.
    pub tags: String,
    /// A memory in one of these containers is shared when it is written: names with commas between them.
    pub containers: String,
}

/// Settings of the server of a team.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TeamSettings {
    /// Address of a PostgreSQL server, without a password; empty: there is no team.
    pub url: String,
    /// Repositories that take part: names with commas between them, or beginnings with an `*`.
    pub repositories: String,
    /// Other repositories whose memories are searched here too, named in the same way.
    pub follow: String,
    /// PEM file with the certificates that vouch for the server; empty: those of the system do.
    pub certificate: String,
    /// A memory with one of these tags becomes the team's when it is written: names with commas between them.
    pub tags: String,
    /// A memory in one of these containers becomes the team's when it is written: names with commas between them.
    pub containers: String,
}

/// Settings of the language model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LlmSettings {
    /// Address of a server with chat completions; empty: none is asked.
    pub url: String,
    /// Name of the model; empty: the server chooses.
    pub model: String,
    /// The variable of the environment that has the key; empty: no key is sent.
    pub key_env: String,
    /// Whether it may be asked, if there is an address.
    pub enabled: bool,
    /// Whether texts may cross a network unencrypted.
    pub plain_http: bool,
    /// Most tokens of a day, in all repositories of the user.
    pub tokens_a_day: u64,
    /// Milliseconds that a search waits for it.
    pub timeout_ms: u64,
    /// Seconds that everything else waits for it.
    pub task_seconds: u64,
}
