//! Holds what the daemon adds to a change: who made it, when, and in which worktree.

use std::cell::RefCell;
use std::sync::Arc;

use memod_base::paths::RepoLayout;
use memod_memory::file::MemoryFile;
use memod_memory::tiers::Tiers;
use memod_memory::{Refused, fields};
use memod_memory_db::{MemoryEvent, Record, Rows};
use tokio::sync::Notify;

use super::file_look::worktree_key;
use super::keeper::derive;
use super::known_files::FileCounters;
use super::rules::Done;
use super::share_rules::{ShareRules, TeamAccess};
use super::show;

/// The data that the daemon adds to a change.
pub(super) struct Stamp {
    pub(super) now_ms: i64,
    pub(super) author: String,
    /// Name of the agent that asks.
    pub(super) agent: Option<String>,
    pub(super) source: &'static str,
    /// The worktree of the caller.
    pub(super) layout: RepoLayout,
    pub(super) tiers: Tiers,
    /// Which memories are shared as they are written.
    pub(super) shares: ShareRules,
    /// Whether there is a team, and which memories are its as they are written.
    pub(super) team: TeamAccess,
    /// Rung when there is something to send.
    pub(super) outbox_bell: Arc<Notify>,
    /// The container of a memory that is added without one, or `auto`.
    pub(super) container: String,
    /// Name of the repository.
    pub(super) repository: Option<String>,
    pub(super) file_counters: FileCounters,
    /// The outcome of a conflict.
    pub(super) resolved: RefCell<Option<(String, MemoryFile)>>,
}

impl Stamp {
    /// Returns whether an agent asks.
    pub(super) fn is_agent(&self) -> bool {
        self.source == fields::AGENT
    }

    /// Returns the name of the caller's worktree.
    pub(super) fn worktree_key(&self) -> String {
        worktree_key(&self.layout)
    }

    /// Says which side of a conflict was chosen, as its file is to be.
    pub(super) fn set_resolved(&self, id: &str, chosen: MemoryFile) {
        self.resolved.replace(Some((id.to_owned(), chosen)));
    }

    /// Takes what [`Self::set_resolved`] said of a memory.
    pub(super) fn take_resolved(&self, id: &str) -> Option<MemoryFile> {
        self.resolved.borrow_mut().take_if(|(of, _)| of == id).map(|(_, chosen)| chosen)
    }

    pub(super) fn event(&self, action: &str) -> MemoryEvent {
        let (author, source) = (self.author.clone(), self.source.to_owned());
        MemoryEvent { at: self.now_ms, action: action.to_owned(), author, source, ..MemoryEvent::default() }
    }

    /// Returns the container that was named, or else that of the settings; `auto` is that of the repository, without whose name
    /// it is refused.
    pub(super) fn container(&self, named: Option<&str>) -> Result<String, Refused> {
        match named.unwrap_or(&self.container) {
            fields::AUTO_CONTAINER => {
                let own = self.repository.as_deref().and_then(|name| fields::validate_container(name).ok());
                own.ok_or_else(|| Refused {
                    field: "container",
                    why: "auto: the name of the repository is not known".to_owned(),
                    hint: Some("name a container, as in `--container NAME`"),
                })
            }
            name => fields::validate_container(name),
        }
    }

    /// Stores a changed memory, if anything differs. Returns it with the names of the changed fields.
    pub(super) fn put(
        &self,
        rows: &Rows<'_>,
        action: &str,
        before: &Record,
        mut after: Record,
    ) -> Done<(Record, Vec<String>)> {
        let fields = show::differences(before, &after);
        let changed = fields.keys().cloned().collect();
        if !fields.is_empty() {
            after.updated = self.now_ms.max(before.updated + 1);
            rows.put(&after, &derive(&after), &MemoryEvent { fields, ..self.event(action) })?;
        }
        Ok((after, changed))
    }
}
