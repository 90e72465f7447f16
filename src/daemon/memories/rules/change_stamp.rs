//! Holds the data that the daemon adds to a change of memories: the author, the time, the worktree and the settings.

use std::cell::RefCell;
use std::sync::Arc;

use memod_base::paths::RepoLayout;
use memod_memory::file::MemoryFile;
use memod_memory::tiers::TierLifetimes;
use memod_memory::{RefusedValue, fields};
use memod_memory_db::{MemoryEvent, MemoryRecord, MemoryRows};
use tokio::sync::Notify;

use crate::daemon::memories::rules::memory_rules::JobResult;
use crate::daemon::memories::rules::protocol_values;
use crate::daemon::memories::rules::record_functions::derive_data;
use crate::daemon::memories::rules::share_rules::{ShareRules, TeamAccess};
use crate::daemon::memories::rules::worktree_place::worktree_key;
use crate::daemon::shared::known_files::FileCounters;

/// The data that the daemon adds to a change of memories.
pub(in crate::daemon::memories) struct ChangeStamp {
    pub(in crate::daemon::memories) now_ms: i64,
    pub(in crate::daemon::memories) author: String,
    /// Name of the agent that calls.
    pub(in crate::daemon::memories) agent: Option<String>,
    pub(in crate::daemon::memories) source: &'static str,
    /// The worktree of the caller.
    pub(in crate::daemon::memories) layout: RepoLayout,
    pub(in crate::daemon::memories) tiers: TierLifetimes,
    /// The rules by which memories are shared as files when they are written.
    pub(in crate::daemon::memories) share_rules: ShareRules,
    /// The team, if there is one, and the rules by which memories are shared with it when they are written.
    pub(in crate::daemon::memories) team: TeamAccess,
    /// Notified when there may be changes to send to the team.
    pub(in crate::daemon::memories) outbox_notify: Arc<Notify>,
    /// The default container of added memories, or `auto`.
    pub(in crate::daemon::memories) container: String,
    /// Name of the repository.
    pub(in crate::daemon::memories) repository: Option<String>,
    pub(in crate::daemon::memories) file_counters: FileCounters,
    /// Id of a memory whose conflict the verb resolves, and the file with the outcome.
    pub(in crate::daemon::memories) resolved: RefCell<Option<(String, MemoryFile)>>,
}

impl ChangeStamp {
    /// Returns whether an agent calls.
    pub(in crate::daemon::memories) fn is_agent(&self) -> bool {
        self.source == fields::AGENT
    }

    /// Returns the key of the caller's worktree in the database.
    pub(in crate::daemon::memories) fn worktree_key(&self) -> String {
        worktree_key(&self.layout)
    }

    /// Records the file with the outcome of a memory's conflict, for the end of the transaction.
    pub(in crate::daemon::memories) fn set_resolved(&self, id: &str, chosen: MemoryFile) {
        self.resolved.replace(Some((id.to_owned(), chosen)));
    }

    /// Removes and returns the file that [`Self::set_resolved`] recorded for a memory.
    pub(in crate::daemon::memories) fn take_resolved(&self, id: &str) -> Option<MemoryFile> {
        self.resolved.borrow_mut().take_if(|(resolved_id, _)| resolved_id == id).map(|(_, chosen)| chosen)
    }

    /// Returns an event for the history, with the author, the source and the time of the change.
    pub(in crate::daemon::memories) fn new_event(&self, action: &str) -> MemoryEvent {
        let (author, source) = (self.author.clone(), self.source.to_owned());
        MemoryEvent { at: self.now_ms, action: action.to_owned(), author, source, ..MemoryEvent::default() }
    }

    /// Returns the named container, or else that of the settings. `auto` means the container with the name of the repository, and
    /// fails if that name is unknown.
    pub(in crate::daemon::memories) fn choose_container(
        &self,
        named: Option<&str>,
    ) -> Result<String, RefusedValue> {
        match named.unwrap_or(&self.container) {
            fields::AUTO_CONTAINER => {
                let own = self.repository.as_deref().and_then(|name| fields::validate_container(name).ok());
                own.ok_or_else(|| RefusedValue {
                    field: "container",
                    why: "auto: the name of the repository is unknown".to_owned(),
                    hint: Some("name a container, as in `--container NAME`"),
                })
            }
            name => fields::validate_container(name),
        }
    }

    /// Stores a changed memory if any field differs. Returns the memory, and the names of the changed fields.
    pub(in crate::daemon::memories) fn store_if_changed(
        &self,
        rows: &MemoryRows<'_>,
        action: &str,
        before: &MemoryRecord,
        mut after: MemoryRecord,
    ) -> JobResult<(MemoryRecord, Vec<String>)> {
        let fields = protocol_values::diff_fields(before, &after);
        let changed = fields.keys().cloned().collect();
        if !fields.is_empty() {
            after.updated = self.now_ms.max(before.updated + 1);
            rows.put_memory(&after, &derive_data(&after), &MemoryEvent { fields, ..self.new_event(action) })?;
        }
        Ok((after, changed))
    }
}
