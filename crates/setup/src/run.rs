//! Sets agents up, or undoes the setup, file by file.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use memod_base::paths::{
    PathError, canonicalize_path, create_private_dir, lock_with_timeout, open_lock_file,
};

use super::Refusal;
use super::agent_table::{AGENTS, Agent};
use super::detect::detect_agents;
use super::document::{FileContent, has_only_frame, install_content, uninstall_content};
use super::entries::{AgentCommand, build_contents};
use super::place::SetupDirs;
use super::records::{FileRecord, Records};
use super::report::{AgentReport, FileAction, FileOutcome, FileReport};
use super::scope::FileScope;
use super::target_file::{TargetFile, remove_empty_dirs};
use super::unified_diff::format_unified_diff;

/// The arguments of a run.
#[derive(Debug)]
pub struct SetupRequest {
    /// The ids of the agents; if empty, the agents that are found on this machine.
    pub agents: Vec<String>,
    /// The owner of the settings files to change; `None` means those of the user, or those of the project for an agent that has only those.
    pub scope: Option<FileScope>,
    /// Whether to remove our content instead of inserting it.
    pub undo: bool,
    /// Whether to report only what would be done, without changing a file.
    pub dry_run: bool,
    /// The absolute path of `memo`, for the settings of a user. The settings of a project have only the name `memo`, because
    /// others have installed it elsewhere.
    pub memo: String,
}

/// How long a run waits for another run. A run takes only the time of some file writes, so one that takes longer is stuck.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);

/// Why nothing was done.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// No agent has this id.
    #[error("no agent is named {0}")]
    Agent(String),
    /// The agent has no settings files in this scope.
    #[error("{0} has no settings files in the scope `{1}`")]
    NoFilesInScope(&'static str, &'static str),
    /// Another run has the lock for too long.
    #[error(transparent)]
    Locked(PathError),
}

/// Returns the ids of all agents.
pub fn agent_ids() -> impl Iterator<Item = &'static str> {
    AGENTS.iter().map(|agent| agent.id)
}

/// Sets agents up or undoes the setup, and returns what was done to each file.
///
/// A file that cannot be changed is reported with the reason, and the other files are still changed.
///
/// # Errors
/// When an agent is unknown or has no settings files in the scope, or another run does not end in time. No file was changed then.
pub fn run_setup(request: &SetupRequest, dirs: &SetupDirs) -> Result<Vec<AgentReport>, SetupError> {
    let chosen = choose_agents(request, dirs)?;
    let _lock = if request.dry_run { None } else { lock_records(dirs)? };
    let mut run =
        SetupRun { request, dirs, records: Records::read(&dirs.records), reported: BTreeSet::new() };
    Ok(chosen.into_iter().map(|(agent, scope)| run.process_agent(agent, scope)).collect())
}

/// Waits for other runs to end, and returns the locked file, which makes later runs wait. Returns `None` if the lock file cannot be
/// created or locked, for example on a full disk: runs then only detect conflicting changes of the same file.
///
/// # Errors
/// When another run does not end in time.
fn lock_records(dirs: &SetupDirs) -> Result<Option<File>, SetupError> {
    let path = dirs.records.with_extension("lock");
    let Some(dir) = path.parent() else { return Ok(None) };
    let Ok(file) = create_private_dir(dir).and_then(|()| open_lock_file(&path)) else { return Ok(None) };
    match lock_with_timeout(file, LOCK_PATIENCE) {
        Err(error) if error.kind() == ErrorKind::TimedOut => {
            let why = format!(
                "another `memo setup` is still running after {} s; end that process if it is stuck",
                LOCK_PATIENCE.as_secs()
            );
            let source = io::Error::new(ErrorKind::TimedOut, why);
            Err(SetupError::Locked(PathError { action: "lock", path, source }))
        }
        locked => Ok(locked.ok()),
    }
}

/// Returns the agents of a request, each with its scope; if the request names none, the agents that are found.
fn choose_agents(
    request: &SetupRequest,
    dirs: &SetupDirs,
) -> Result<Vec<(&'static Agent, FileScope)>, SetupError> {
    if request.agents.is_empty() {
        let scope = request.scope.unwrap_or(FileScope::User);
        let there = detect_agents(dirs, scope);
        let is_there = |agent: &Agent| there.iter().any(|at| at.agent == agent.id && at.found.is_some());
        let agents = AGENTS.iter().filter(|agent| !scope.settings_files(agent).is_empty());
        // The settings of an agent that was uninstalled may still have our content, so an undo includes it.
        return Ok(agents
            .filter(|agent| request.undo || is_there(agent))
            .map(|agent| (agent, scope))
            .collect());
    }
    request.agents.iter().map(|id| find_agent(id, request.scope)).collect()
}

/// Returns the agent with this id, and `scope` or else the default scope of the agent.
///
/// # Errors
/// When there is no such agent, or it has no settings files in the scope.
fn find_agent(id: &str, scope: Option<FileScope>) -> Result<(&'static Agent, FileScope), SetupError> {
    let agent = AGENTS.iter().find(|agent| agent.id == id).ok_or_else(|| SetupError::Agent(id.to_owned()))?;
    let usual = if agent.user.is_empty() { FileScope::Project } else { FileScope::User };
    let scope = scope.unwrap_or(usual);
    if scope.settings_files(agent).is_empty() {
        return Err(SetupError::NoFilesInScope(agent.id, scope.as_str()));
    }
    Ok((agent, scope))
}

/// A run with its state.
struct SetupRun<'a> {
    request: &'a SetupRequest,
    dirs: &'a SetupDirs,
    records: Records,
    /// In a run that changes nothing: files that are already reported for another agent.
    reported: BTreeSet<PathBuf>,
}

/// A settings file of an agent, and our content for it.
struct FileTask<'a> {
    agent: &'a Agent,
    /// The path of the file, before links are resolved.
    path: &'a Path,
    content: &'a FileContent,
    target: TargetFile,
    /// The record of what earlier runs have inserted into the file.
    record: Option<FileRecord>,
}

impl SetupRun<'_> {
    /// Sets up one agent, or undoes its setup.
    fn process_agent(&mut self, agent: &'static Agent, scope: FileScope) -> AgentReport {
        let memo = match scope {
            FileScope::User => &self.request.memo,
            FileScope::Project => "memo",
        };
        let command = AgentCommand { agent: agent.id, memo };
        let all =
            scope.settings_files(agent).iter().flat_map(|spec| build_contents(spec, self.dirs, command));
        let mut files = Vec::new();
        for (path, content) in all {
            let allowed = if scope == FileScope::Project { self.check_inside_project(&path) } else { Ok(()) };
            let outcome = allowed
                .and_then(|()| self.process_file(agent, &path, &content))
                .unwrap_or_else(FileOutcome::from);
            files.push(FileReport {
                shown: self.dirs.display_path(&path),
                path: path.display().to_string(),
                action: outcome.action,
                reason: outcome.reason,
                diff: outcome.diff,
            });
        }
        let note = if self.request.undo { "" } else { agent.note };
        AgentReport { agent: agent.id, name: agent.name, scope: scope.as_str(), files, note }
    }

    /// Returns an error if a link leads from a settings file of the project out of the project. A project, and so its links, may
    /// come from anybody.
    fn check_inside_project(&self, path: &Path) -> Result<(), Refusal> {
        let there = path.ancestors().find(|path| path.symlink_metadata().is_ok());
        let (Some(Ok(end)), Ok(project)) =
            (there.map(canonicalize_path), canonicalize_path(&self.dirs.project))
        else {
            return Ok(()); // a broken link is reported when the file is read
        };
        if end.starts_with(project) {
            Ok(())
        } else {
            Err(Refusal::OutsideProject(end.display().to_string()))
        }
    }

    /// Sets up one file, or undoes its setup.
    fn process_file(
        &mut self,
        agent: &Agent,
        path: &Path,
        content: &FileContent,
    ) -> Result<FileOutcome, Refusal> {
        let target = TargetFile::read(path)?;
        if self.request.dry_run && !self.reported.insert(target.path().to_owned()) {
            return Ok(FileOutcome::without_change(FileAction::Unchanged, None)); // already reported for another agent
        }
        if !self.request.dry_run {
            target.remove_leftover();
        }
        let record = self.records.get(target.path()).cloned();
        let task = FileTask { agent, path, content, target, record };
        if self.request.undo { self.undo_file(task) } else { self.set_up_file(task) }
    }

    /// Inserts our content into a file.
    fn set_up_file(&mut self, task: FileTask<'_>) -> Result<FileOutcome, Refusal> {
        let FileTask { agent, path, content, target, record } = task;
        let before = target.text.as_deref();
        let mut record =
            record.unwrap_or_else(|| FileRecord { path: target.path().to_owned(), ..FileRecord::default() });
        let is_known = record.agents.iter().any(|known| known == agent.id);
        if !is_known {
            record.agents.push(agent.id.to_owned());
        }
        let Some(installed) = install_content(content, before, &record.pieces)? else {
            // The file has our entries without a record: they came with the project, so no record is written.
            if !is_known && record.agents.len() > 1 && !self.request.dry_run {
                self.records.write_record(record)?;
            }
            return Ok(FileOutcome::without_change(FileAction::Unchanged, None));
        };
        target.check_writable()?;
        let action = if before.is_none() { FileAction::Created } else { FileAction::Changed };
        let diff = format_unified_diff(&self.dirs.display_path(path), before, Some(&installed.text));
        if !self.request.dry_run {
            record.created |= before.is_none();
            record.pieces = installed.pieces;
            if before.is_none() {
                record.dirs = self.records.created_dirs(target.path());
                record.dirs.extend(target.missing_dirs());
            }
            self.write_recorded(&target, &installed.text, record)?;
        }
        Ok(FileOutcome { action, reason: None, diff })
    }

    /// Writes the record and then the file. In this order an interruption does no harm: a record of missing content is harmless,
    /// but content without a record could not be removed exactly.
    fn write_recorded(&mut self, target: &TargetFile, text: &str, record: FileRecord) -> Result<(), Refusal> {
        let former = self.records.get(target.path()).cloned();
        self.records.write_record(record)?;
        let written = target.write(text);
        if written.is_err() {
            match former {
                Some(former) => self.records.write_record(former)?,
                None => self.records.remove_record(target.path()),
            }
        }
        written
    }

    /// Removes our content from a file.
    fn undo_file(&mut self, task: FileTask<'_>) -> Result<FileOutcome, Refusal> {
        let FileTask { agent, path, content, target, record } = task;
        let is_recorded = record.is_some();
        let mut record = record.unwrap_or_default();
        record.agents.retain(|known| known != agent.id);
        if !record.agents.is_empty() && self.leaves_some_set_up(&record.agents) {
            let reason = format!("{} also reads this file", record.agents.join(", "));
            if !self.request.dry_run {
                self.records.write_record(record)?;
            }
            return Ok(FileOutcome::without_change(FileAction::Kept, Some(reason)));
        }
        let Some(before) = target.text.as_deref() else {
            self.forget_file(target.path(), &record);
            return Ok(FileOutcome::without_change(FileAction::Unchanged, None));
        };
        let left = match uninstall_content(content, before, &record.pieces) {
            Err(Refusal::WrittenByOthers) if !is_recorded => None,
            left => left?,
        };
        let Some(left) = left else {
            self.forget_file(target.path(), &record);
            return Ok(FileOutcome::without_change(FileAction::Unchanged, None));
        };
        target.check_writable()?;
        let is_gone =
            matches!(content, FileContent::Whole(_)) || (record.created && has_only_frame(content, &left));
        let after = (!is_gone).then_some(left.as_str());
        let diff = format_unified_diff(&self.dirs.display_path(path), Some(before), after);
        if !self.request.dry_run {
            match after {
                Some(text) => target.write(text)?,
                None => target.remove()?,
            }
            self.forget_file(target.path(), &record);
        }
        let action = if is_gone { FileAction::Removed } else { FileAction::Changed };
        Ok(FileOutcome { action, reason: None, diff })
    }

    /// Returns whether this run leaves some of these agents set up.
    fn leaves_some_set_up(&self, agents: &[String]) -> bool {
        !self.request.agents.is_empty() && agents.iter().any(|agent| !self.request.agents.contains(agent))
    }

    /// Removes the empty directories that we created for a file, and then its record. In this order the run after an interrupted
    /// one still finds the directories in the record.
    fn forget_file(&mut self, path: &Path, record: &FileRecord) {
        if !self.request.dry_run {
            remove_empty_dirs(&record.dirs);
            self.records.remove_record(path);
        }
    }
}
