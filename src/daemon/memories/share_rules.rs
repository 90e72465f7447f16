//! Says which memories are shared by the settings of a repository.

use crate::config;
use crate::store::Record;

/// Which memories are shared as they are written.
#[derive(Clone, Debug, Default)]
pub(super) struct ShareRules {
    tags: Vec<String>,
    containers: Vec<String>,
}

impl ShareRules {
    pub(super) fn of(config: &config::Share) -> Self {
        let names = |list: &str| -> Vec<String> {
            list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_lowercase).collect()
        };
        Self { tags: names(&config.tags), containers: names(&config.containers) }
    }

    /// Returns whether a memory is shared once it is written.
    pub(super) fn shares(&self, record: &Record) -> bool {
        self.containers.contains(&record.container) || record.tags.iter().any(|tag| self.tags.contains(tag))
    }
}
