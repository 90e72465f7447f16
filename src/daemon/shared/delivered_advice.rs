//! Remembers the advice that each session of an agent was given.
//!
//! The record is a small file in the state dir, because a session may outlive a daemon that is idle. Names of sessions are hashed.
//! Without the file, advice is delivered again.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use memod_base::clock::now_ms;
use memod_base::paths::{IoContext, PathError, RepoLayout, read_file, replace_private};
use memod_base::threads::lock;
use memod_proto::Beginning;
use serde::{Deserialize, Serialize};

/// Maximum number of sessions; the one with the oldest advice is forgotten first.
const MOST_SESSIONS: usize = 64;
/// Maximum number of memories that are remembered for a session; the earliest is forgotten first.
const MOST_MEMORIES: usize = 256;
/// Age at which a session is forgotten, ms.
const MAX_AGE_MS: i64 = 30 * 86_400_000;
/// Largest file that is read, bytes; a file that this module has written is smaller.
const MAX_FILE: usize = 2 << 20;

/// Identifies a session without its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::daemon) struct SessionKey(u64);

impl SessionKey {
    /// Returns the key of the session with a name.
    pub(in crate::daemon) fn from_name(name: &str) -> Self {
        let hash = blake3::hash(name.as_bytes());
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&hash.as_bytes()[..8]);
        Self(u64::from_le_bytes(bytes))
    }
}

/// The advice that one session was given.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct AdvisedSession {
    key: SessionKey,
    /// Time of the last change, unix ms.
    at: i64,
    /// Whether the session was given the brief.
    #[serde(default)]
    brief: bool,
    /// Ids of memories, the earliest first.
    #[serde(default)]
    memories: VecDeque<String>,
}

/// The advice that all sessions were given. The file is read at the first use.
pub(in crate::daemon) struct DeliveredAdvice {
    file: PathBuf,
    /// The sessions, the one that changed last at the end; `None` before the file was read.
    sessions: Mutex<Option<Vec<AdvisedSession>>>,
    pending: Mutex<PendingReceipts>,
}

/// Advice in answers that the caller has not confirmed yet.
#[derive(Default)]
struct PendingReceipts {
    /// Number of receipts that were issued so far.
    n_receipts: u64,
    /// For each receipt, the oldest first: the session, the ids, and whether the answer was the brief.
    answers: VecDeque<(String, SessionKey, Vec<String>, bool)>,
}

impl DeliveredAdvice {
    pub(in crate::daemon) fn new(layout: &RepoLayout) -> Self {
        Self::with_file(layout.state_dir.join("told.json"))
    }

    fn with_file(file: PathBuf) -> Self {
        Self { file, sessions: Mutex::default(), pending: Mutex::default() }
    }

    /// Forgets the advice that the agent no longer remembers; returns whether the session still has the brief, perhaps summarised.
    /// Blocks.
    pub(in crate::daemon) fn begin_session(&self, key: SessionKey, beginning: Beginning) -> bool {
        let mut sessions = self.lock_sessions();
        let sessions = sessions.get_or_insert_default();
        let Some(at) = sessions.iter().position(|session| session.key == key) else { return false };
        match beginning {
            Beginning::Startup | Beginning::Resume | Beginning::Fork => return sessions[at].brief,
            Beginning::Compact => sessions[at].memories.clear(),
            Beginning::Clear => drop(sessions.remove(at)),
        }
        self.save_sessions(sessions);
        beginning == Beginning::Compact && sessions[at].brief
    }

    /// Returns the ids of the advice that a session was given. Blocks.
    pub(in crate::daemon) fn list_delivered_ids(&self, key: SessionKey) -> Vec<String> {
        let sessions = self.lock_sessions();
        let found = sessions.iter().flatten().find(|session| session.key == key);
        found.map(|session| session.memories.iter().cloned().collect()).unwrap_or_default()
    }

    /// Keeps the ids of an answer until its receipt arrives, and returns that receipt. Without it, the advice is delivered again.
    pub(in crate::daemon) fn issue_receipt(&self, key: SessionKey, ids: Vec<String>, brief: bool) -> String {
        let mut pending = lock(&self.pending);
        pending.n_receipts += 1;
        let receipt = format!("{}-{}", std::process::id(), pending.n_receipts);
        pending.answers.push_back((receipt.clone(), key, ids, brief));
        if pending.answers.len() > MOST_SESSIONS {
            pending.answers.pop_front();
        }
        receipt
    }

    /// Adds the ids of the answer with this receipt to those that its session was given. Blocks.
    pub(in crate::daemon) fn record_receipt(&self, receipt: &str) {
        let mut pending = lock(&self.pending);
        let found = pending.answers.iter().position(|(known, ..)| known == receipt);
        let found = found.and_then(|at| pending.answers.remove(at));
        drop(pending);
        if let Some((_, key, ids, brief)) = found {
            self.add_ids(key, ids, brief);
        }
    }

    /// Forgets the ids of a session that `is_meant` selects. Blocks.
    pub(in crate::daemon) fn forget_ids(&self, key: SessionKey, is_meant: impl Fn(&str) -> bool) {
        let mut sessions = self.lock_sessions();
        let sessions = sessions.get_or_insert_default();
        let session = sessions.iter_mut().find(|session| session.key == key);
        let Some(session) = session.filter(|session| session.memories.iter().any(|id| is_meant(id))) else {
            return;
        };
        session.memories.retain(|id| !is_meant(id));
        self.save_sessions(sessions);
    }

    /// Adds ids to those that a session was given, and whether it was given the brief. Blocks.
    pub(in crate::daemon) fn add_ids(&self, key: SessionKey, ids: Vec<String>, brief: bool) {
        let now = now_ms();
        let mut sessions = self.lock_sessions();
        let sessions = sessions.get_or_insert_default();
        let known = sessions.iter().position(|session| session.key == key).map(|at| sessions.remove(at));
        let mut session = known.unwrap_or(AdvisedSession { key, at: now, brief, memories: VecDeque::new() });
        (session.at, session.brief) = (now, session.brief || brief);
        session.memories.retain(|id| !ids.contains(id));
        session.memories.extend(ids);
        let n_over = session.memories.len().saturating_sub(MOST_MEMORIES);
        session.memories.drain(..n_over);
        sessions.push(session);
        sessions.retain(|session| now - session.at < MAX_AGE_MS);
        let n_over = sessions.len().saturating_sub(MOST_SESSIONS);
        sessions.drain(..n_over);
        self.save_sessions(sessions);
    }

    fn lock_sessions(&self) -> MutexGuard<'_, Option<Vec<AdvisedSession>>> {
        let mut sessions = lock(&self.sessions);
        sessions.get_or_insert_with(|| read_sessions(&self.file));
        sessions
    }

    /// Writes the file. Without it, a later daemon repeats some advice.
    fn save_sessions(&self, sessions: &[AdvisedSession]) {
        if let Err(error) = write_sessions(&self.file, sessions) {
            tracing::warn!(%error, "the record of the advice that sessions received cannot be saved");
        }
    }
}

/// Returns the sessions of a file; none if it is absent or damaged.
fn read_sessions(file: &Path) -> Vec<AdvisedSession> {
    let text = read_file(file).ok().filter(|text| text.len() <= MAX_FILE);
    text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

fn write_sessions(file: &Path, sessions: &[AdvisedSession]) -> Result<(), PathError> {
    let text = serde_json::to_vec(sessions).map_err(std::io::Error::from).at("write", file)?;
    replace_private(file, &text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn told(dir: &Path) -> DeliveredAdvice {
        DeliveredAdvice::with_file(dir.join("told.json"))
    }

    fn ids(range: std::ops::Range<usize>) -> Vec<String> {
        range.map(|nth| format!("mem_{nth}")).collect()
    }

    #[test]
    fn a_session_outlives_the_daemon() {
        let dir = tempfile::tempdir().unwrap();
        let (one, other) = (SessionKey::from_name("one"), SessionKey::from_name("other"));
        told(dir.path()).add_ids(one, ids(0..2), true);
        let later = told(dir.path());
        assert_eq!((later.list_delivered_ids(one), later.list_delivered_ids(other)), (ids(0..2), Vec::new()));
        assert!(
            later.begin_session(one, Beginning::Resume) && !later.begin_session(other, Beginning::Resume)
        );
    }

    #[test]
    fn what_a_session_no_longer_knows_is_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let (told, key) = (told(dir.path()), SessionKey::from_name("one"));
        told.add_ids(key, ids(0..2), true);
        assert!(told.begin_session(key, Beginning::Compact), "a summary has the brief");
        assert_eq!(told.list_delivered_ids(key), Vec::<String>::new());
        told.add_ids(key, ids(0..2), false);
        assert!(!told.begin_session(key, Beginning::Clear));
        assert_eq!(told.list_delivered_ids(key), Vec::<String>::new());
    }

    #[test]
    fn what_was_not_passed_on_is_told_again() {
        let dir = tempfile::tempdir().unwrap();
        let (told, key) = (told(dir.path()), SessionKey::from_name("one"));
        let first = told.issue_receipt(key, ids(0..1), false);
        let second = told.issue_receipt(key, ids(1..2), true);
        assert_ne!(first, second);
        assert!(told.list_delivered_ids(key).is_empty() && !told.begin_session(key, Beginning::Resume));
        told.record_receipt(&second);
        told.record_receipt(&second);
        told.record_receipt("of another daemon");
        assert_eq!(told.list_delivered_ids(key), ids(1..2));
        assert!(told.begin_session(key, Beginning::Resume));
        told.forget_ids(key, |id| id == "mem_1");
        assert!(told.list_delivered_ids(key).is_empty());
    }

    #[test]
    fn it_stays_small() {
        let dir = tempfile::tempdir().unwrap();
        let told = told(dir.path());
        for nth in 0..MOST_SESSIONS + 10 {
            told.add_ids(SessionKey::from_name(&nth.to_string()), ids(0..1), false);
        }
        let last = SessionKey::from_name(&(MOST_SESSIONS + 9).to_string());
        told.add_ids(last, ids(0..MOST_MEMORIES + 10), false);
        assert_eq!(told.list_delivered_ids(last), ids(10..MOST_MEMORIES + 10));
        assert_eq!(told.list_delivered_ids(SessionKey::from_name("0")), Vec::<String>::new());
        assert!(fs::metadata(dir.path().join("told.json")).unwrap().len() < 20_000);
    }

    #[test]
    fn a_damaged_file_is_no_hindrance() {
        let dir = tempfile::tempdir().unwrap();
        for text in ["", "{", "[1]", "[{\"key\":1}]", "null"] {
            fs::write(dir.path().join("told.json"), text).unwrap();
            let (told, key) = (told(dir.path()), SessionKey::from_name("one"));
            assert!(told.list_delivered_ids(key).is_empty(), "{text}");
            told.add_ids(key, ids(0..1), false);
            assert_eq!(told.list_delivered_ids(key), ids(0..1));
        }
    }
}
