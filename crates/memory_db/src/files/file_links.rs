//! Keeps links equal to what files say, also where the other end comes later.

use memod_database::DatabaseError;
use memod_proto::memory::LinkKind;
use rusqlite::params;

use super::super::{Link, Linked, MemoryEvent, Rows};
use super::FROM_FILE;

/// Links as a file says them.
pub(crate) type FileLinks = Vec<(LinkKind, String)>;

impl Rows<'_> {
    /// Returns whether the memories of the worktree are linked as its files say.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_linked(&self) -> Result<bool, DatabaseError> {
        Ok(self.said_otherwise()?.is_empty())
    }

    /// Returns ids with the links that their files say, and with those links that the files had said when last asked, where
    /// the two differ.
    fn said_otherwise(&self) -> Result<Vec<(String, FileLinks, FileLinks)>, DatabaseError> {
        self.run(|conn| {
            let links = |json: Option<String>| {
                json.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default()
            };
            conn.prepare_cached(
                "SELECT DISTINCT m.id, v.file_links, m.linked FROM memory_file f JOIN memory v ON v.row = f.memory
                 JOIN memory m ON m.row = coalesce(v.main, v.row)
                 WHERE f.worktree = memod_worktree() AND f.side < 2 AND m.shared NOT IN (0, 2)
                     AND v.file_links IS NOT m.linked
                 UNION ALL SELECT id, file_links, linked FROM memory
                 WHERE shared = 3 AND main IS NULL AND file_links IS NOT linked",
            )?
            .query_map([], |row| Ok((row.get(0)?, links(row.get(1)?), links(row.get(2)?))))?
            .collect()
        })
    }

    /// Links the memories of the worktree as their files say, and takes away links that a file has said and says no more.
    /// Leaves out those to memories that are not here.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn link_files(&self) -> Result<(), DatabaseError> {
        let event = |action| MemoryEvent {
            source: FROM_FILE.to_owned(),
            ..MemoryEvent::of_daemon(self.now_ms(), action)
        };
        for (id, links, linked) in self.said_otherwise()? {
            for (kind, to) in linked.iter().filter(|link| !links.contains(link)) {
                self.unlink(&id, to, *kind, &event("unlink"))?;
            }
            let mut done: FileLinks = Vec::new();
            let is_team = self.is_team(&id)?;
            for (kind, to) in links {
                // What another member writes says nothing of memories that are not the team's.
                let is_here = if is_team { self.is_team(&to)? } else { self.has(&to)? };
                if !is_here {
                    continue;
                }
                let link = Link { created: self.now_ms(), from: id.clone(), to: to.clone(), kind };
                if self.link(&link, &event("link"))? == Linked::Ring {
                    tracing::warn!(
                        id,
                        to,
                        kind = kind.as_str(),
                        "a file says a link that would close a ring"
                    );
                }
                done.push((kind, to));
            }
            self.set_linked(&id, &done)?;
        }
        Ok(())
    }

    /// Records which links of a file are links here.
    pub(crate) fn set_linked(&self, id: &str, links: &[(LinkKind, String)]) -> Result<(), DatabaseError> {
        let json = (!links.is_empty()).then(|| serde_json::json!(links).to_string());
        self.run(|conn| {
            conn.prepare_cached("UPDATE memory SET linked = ?2 WHERE id = ?1")?
                .execute(params![id, json])
                .map(drop)
        })
    }
}
