//! Keeps the stored links of memories equal to the links in their files, also where the other memory arrives later.

use memod_database::DatabaseError;
use memod_proto::memory::LinkKind;
use rusqlite::params;

use crate::access::row_access::row_handle;
use crate::files::sharing_rows::SharingRows;
use crate::memory_tables::link_rows::{LinkOutcome, LinkRows, MemoryLink};
use crate::memory_tables::record_rows::RecordRows;
use crate::records::file_version::FileLinks;
use crate::records::memory_event::MemoryEvent;

row_handle! {
    /// Links that memory files have.
    pub struct FileLinkRows { records: RecordRows, links: LinkRows, sharing: SharingRows }
}

impl FileLinkRows<'_> {
    /// Returns whether the links in the worktree's files are unchanged since they were last applied.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn are_links_current(&self) -> Result<bool, DatabaseError> {
        Ok(self.list_changed_links()?.is_empty())
    }

    /// Returns the memories whose files have other links than were last applied: id, present links, applied links.
    fn list_changed_links(&self) -> Result<Vec<(String, FileLinks, FileLinks)>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT DISTINCT m.id, v.file_links, m.linked FROM memory_file f JOIN memory v ON v.row = f.memory
                 JOIN memory m ON m.row = coalesce(v.main, v.row)
                 WHERE f.worktree = memod_worktree() AND f.side < 2 AND m.shared NOT IN (0, 2)
                     AND v.file_links IS NOT m.linked
                 UNION ALL SELECT id, file_links, linked FROM memory
                 WHERE shared = 3 AND main IS NULL AND file_links IS NOT linked",
            )?
            .query_map([], |row| Ok((row.get(0)?, parse_links(row.get(1)?), parse_links(row.get(2)?))))?
            .collect()
        })
    }

    /// Adds the links in the worktree's files, and removes links that a file no longer has. Skips links to memories that this
    /// database does not have.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn update_file_links(&self) -> Result<(), DatabaseError> {
        for (id, links, linked) in self.list_changed_links()? {
            for (kind, to) in linked.iter().filter(|link| !links.contains(link)) {
                self.links().remove_link(
                    &id,
                    to,
                    *kind,
                    &MemoryEvent::new_by_file(self.access.now_ms(), "unlink"),
                )?;
            }
            let mut done: FileLinks = Vec::new();
            let is_team = self.sharing().is_team_memory(&id)?;
            for (kind, to) in links {
                // A memory of the team is linked only to memories of the team.
                let is_here = if is_team {
                    self.sharing().is_team_memory(&to)?
                } else {
                    self.records().has_memory(&to)?
                };
                if !is_here {
                    continue;
                }
                let link =
                    MemoryLink { created: self.access.now_ms(), from: id.clone(), to: to.clone(), kind };
                if self.links().add_link(&link, &MemoryEvent::new_by_file(self.access.now_ms(), "link"))?
                    == LinkOutcome::Cycle
                {
                    tracing::warn!(
                        id,
                        to,
                        kind = kind.as_str(),
                        "skipped a link in a file, because it would close a cycle"
                    );
                }
                done.push((kind, to));
            }
            self.set_applied_links(&id, &done)?;
        }
        Ok(())
    }

    /// Records which links of a memory's file were applied.
    pub(crate) fn set_applied_links(
        &self,
        id: &str,
        links: &[(LinkKind, String)],
    ) -> Result<(), DatabaseError> {
        let json = (!links.is_empty()).then(|| serde_json::json!(links).to_string());
        self.access.run(|conn| {
            conn.prepare_cached("UPDATE memory SET linked = ?2 WHERE id = ?1")?
                .execute(params![id, json])
                .map(drop)
        })
    }
}

/// Parses the stored links of a file.
fn parse_links(json: Option<String>) -> FileLinks {
    json.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default()
}
