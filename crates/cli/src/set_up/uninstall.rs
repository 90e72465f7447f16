//! Runs `memo uninstall`: removes memod from a repository and from agents.
//!
//! The memories are exported before anything is removed, and once more when no daemon can run any more, so that the exported file
//! has every acknowledged memory. Each step can be repeated: if a run is killed, a second run finishes the removal.

use std::fs;
use std::path::{Path, PathBuf};

use memod_base::paths::{
    Env, IoContext, LocateError, NOT_MERGED_NOTICE, find_files_to_keep, find_unused_path, may_have_memories,
    move_files, remove_state_dir,
};
use memod_base::types::format_rfc3339;
use memod_client::{Client, ClientOptions, lock_out_daemons};
use memod_setup::{AgentReport, FileAction, FileReport, FileScope};
use memod_terminal::text::{escape_for_display, format_count, not_up_to_date_message, shell_word};
use memod_terminal::{
    CliError, CliResult, CommandContext, EXIT_NOTHING_FOUND, Output, remove_stale_part_files,
};
use serde::Serialize;

use crate::args::UninstallArgs;
use crate::daemon::status::print_field;
use crate::exchange;
use crate::memories::CONFIRM_REMOVAL_HINT;
use crate::set_up::hooks;
use crate::set_up::setup;

/// Beginning of the name of an exported file.
const EXPORT_PREFIX: &str = "memod-memories";

/// The parts of memod that were found; after the removal, those that were removed, and those that were left.
#[derive(Default, Serialize)]
struct UninstallReport {
    dry_run: bool,
    memories: u64,
    links: u64,
    /// The file to which the memories are exported; `None` if there are no memories.
    export: Option<PathBuf>,
    /// The directory to which damaged databases and backups that the user made are moved; `None` if there are none.
    moved_to: Option<PathBuf>,
    /// Files with hooks that git runs.
    hooks: Vec<PathBuf>,
    /// Changes to the settings files of each agent in the user's home.
    setup: Vec<AgentReport>,
    /// The state dirs to remove.
    state: Vec<PathBuf>,
    /// The worktrees that share the state dirs.
    worktrees: Vec<PathBuf>,
    /// The file which records that a directory outside git is to be indexed, if there is one.
    asked_for: Option<PathBuf>,
    /// Files of the project into which `memo setup` has written. They stay, because they may be shared with others.
    project: Vec<String>,
    /// State dirs that stay, because their memories could not be exported.
    kept: Vec<PathBuf>,
    /// Parts that could not be removed.
    left: Vec<String>,
    /// A notice of the daemon on the memories.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
    /// Why some memories may differ from their files.
    #[serde(skip_serializing_if = "Option::is_none")]
    behind: Option<String>,
    #[serde(skip)]
    export_path: PathBuf,
    #[serde(skip)]
    kept_files_dir: PathBuf,
}

/// Shows the parts to remove, asks for a confirmation, exports the memories and removes the parts. Exits with 1 when a part was
/// left.
pub(crate) fn uninstall_memod(typed: &UninstallArgs, dir: Option<&Path>, output: &mut Output) -> CliResult {
    let is_asked = !typed.yes && !typed.dry_run;
    if is_asked {
        output.require_terminal("removing memod", CONFIRM_REMOVAL_HINT)?;
    }
    let context = match CommandContext::find_including_unindexed(dir) {
        Ok(context) => Some(context),
        // A directory that is too large to index has no state, but agents may be set up.
        Err(CliError::Locate(LocateError::HomeOrRoot(_))) => None,
        Err(error) => return Err(error),
    };
    if let (Some(path), Some(context)) = (&typed.export, &context) {
        check_export_path(path, context)?;
    }
    let (mut removal, client) = find_installed(typed, context.as_ref(), output.now_ms)?;
    if removal.is_empty() {
        if !typed.dry_run && !typed.keep_setup {
            // A killed run may have left a record of the changes that it undid.
            undo_setup(context.as_ref(), false)?;
        }
        return report_unchanged(&removal, "there is nothing of memod to remove here", output);
    }
    if output.is_text() {
        removal.print_installed_parts(output)?;
        output.flush()?;
    }
    if typed.dry_run || (is_asked && !output.ask_for_confirmation("remove all of this?")?) {
        return report_unchanged(&removal, "nothing was changed", output);
    }
    if let Some(context) = &context {
        removal.remove_installed_parts(context, client)?;
    }
    let done = if typed.keep_setup { Vec::new() } else { undo_setup(context.as_ref(), false)? };
    let files = done.iter().flat_map(|report| &report.files);
    removal.left.extend(files.filter(|file| file.action == FileAction::LeftAlone).map(describe_left_alone));
    output.write_result(&removal, |output| {
        removal.write_uninstall_summary(output);
        Ok(())
    })?;
    Ok(if removal.left.is_empty() && removal.kept.is_empty() { 0 } else { EXIT_NOTHING_FOUND })
}

fn report_unchanged(removal: &UninstallReport, why: &str, output: &mut Output) -> CliResult {
    output.write_result(removal, |output| {
        output.write_note(why);
        Ok(())
    })?;
    Ok(0)
}

/// Fails if the path of the export exists, or would be removed with the state.
fn check_export_path(path: &Path, context: &CommandContext) -> Result<(), CliError> {
    let why = if let Some(dir) = context.layout.find_own_state_dir(path, &context.env) {
        format!("part of memod's own state, {}", dir.display())
    } else if fs::symlink_metadata(path).is_ok() {
        "the file exists".to_owned()
    } else {
        return Ok(());
    };
    let message = format!("--export: {}: {why}", path.display());
    Err(CliError::Usage { message, hint: "name a new file elsewhere" })
}

fn undo_setup(context: Option<&CommandContext>, show: bool) -> Result<Vec<AgentReport>, CliError> {
    let env = context.map_or_else(Env::read, |context| context.env.clone());
    setup::remove_setup(&env, Path::new(""), FileScope::User, show)
}

/// Finds the parts of memod to remove. Also returns the connection to the daemon that counted the memories; `None` if there are
/// none.
fn find_installed(
    typed: &UninstallArgs,
    context: Option<&CommandContext>,
    now_ms: i64,
) -> Result<(UninstallReport, Option<Client>), CliError> {
    let setup = if typed.keep_setup { Vec::new() } else { undo_setup(context, true)? };
    let mut removal = UninstallReport { dry_run: typed.dry_run, setup, ..UninstallReport::default() };
    let Some(context) = context else { return Ok((removal, None)) };
    let (layout, env) = (&context.layout, &context.env);
    removal.state = layout.all_state_dirs(env);
    removal.asked_for = layout.existing_request_file(env);
    removal.hooks = layout.find_doorbell_users();
    if !removal.state.is_empty() {
        removal.worktrees = layout.existing_worktree_roots();
    }
    let project = setup::remove_setup(env, &layout.root, FileScope::Project, true)?;
    let files = project.iter().flat_map(|report| &report.files);
    removal.project = files.map(|file| file.shown.clone()).collect();
    let parent_dir = layout.state_dir.parent().unwrap_or(&layout.root);
    removal.export_path =
        typed.export.clone().unwrap_or_else(|| free_dated_path(parent_dir, EXPORT_PREFIX, ".jsonl", now_ms));
    removal.kept_files_dir = free_dated_path(parent_dir, "memod-kept", "", now_ms);
    removal.find_files_to_move();
    if !removal.state.iter().any(|dir| may_have_memories(dir)) {
        return Ok((removal, None));
    }
    let mut client = context.connect_without_indexing()?;
    removal.hooks = hooks::fetch_active_hook_files(&mut client, context)?;
    removal.count_memories(&mut client, context)?;
    if removal.notice.as_ref().is_some_and(|notice| notice.contains(NOT_MERGED_NOTICE)) {
        (removal.kept, removal.state) =
            removal.state.into_iter().partition(|dir| *dir != layout.state_dir && may_have_memories(dir));
    }
    removal.find_files_to_move();
    Ok((removal, Some(client)))
}

fn describe_left_alone(file: &FileReport) -> String {
    format!("{}: {}", file.shown, file.reason.as_deref().unwrap_or("left alone"))
}

/// Returns a path that does not exist yet, with the date in its name.
fn free_dated_path(dir: &Path, name: &str, extension: &str, now_ms: i64) -> PathBuf {
    let date = format_rfc3339(now_ms)[.."2026-11-23".len()].to_owned();
    find_unused_path((1_u32..).map(|number| match number {
        1 => dir.join(format!("{name}-{date}{extension}")),
        number => dir.join(format!("{name}-{date}-{number}{extension}")),
    }))
}

impl UninstallReport {
    fn is_empty(&self) -> bool {
        let Self { hooks, setup, state, asked_for, .. } = self;
        hooks.is_empty() && setup.is_empty() && state.is_empty() && asked_for.is_none()
    }

    /// Returns the files to keep, which are moved out of the state dirs, and sets `moved_to` accordingly.
    fn find_files_to_move(&mut self) -> Vec<PathBuf> {
        let files: Vec<PathBuf> = self.state.iter().flat_map(|dir| find_files_to_keep(dir)).collect();
        self.moved_to = (!files.is_empty()).then(|| self.kept_files_dir.clone());
        files
    }

    fn count_memories(&mut self, client: &mut Client, context: &CommandContext) -> Result<(), CliError> {
        let exchange::ExportOutcome { counts: end, caveats } = exchange::export_all(client, context, None)?;
        (self.memories, self.links, self.notice) = (end.memories, end.links, caveats.notice);
        self.behind = (!caveats.fresh).then(|| not_up_to_date_message(caveats.reason.as_deref()));
        self.export = (end.memories > 0).then(|| self.export_path.clone());
        Ok(())
    }

    /// Exports the memories, removes the hooks, stops the daemon, exports newer memories and removes the state, in this order.
    fn remove_installed_parts(
        &mut self,
        context: &CommandContext,
        client: Option<Client>,
    ) -> Result<(), CliError> {
        let layout = &context.layout;
        let client = match client {
            // Only the daemon can remove hooks from git's files.
            None if !self.hooks.is_empty() => Some(context.connect_without_indexing()?),
            client => client,
        };
        if let Some(mut client) = client {
            self.count_memories(&mut client, context)?; // memories may have been added since the report was shown
            if let Some(path) = &self.export {
                self.remove_stale_part_files();
                let exchange::ExportOutcome { counts: end, .. } =
                    exchange::export_all(&mut client, context, Some(path))?;
                (self.memories, self.links) = (end.memories, end.links);
            }
            let remaining = hooks::uninstall_hooks(&mut client, context)?;
            self.left.extend(remaining.iter().map(|file| format!("{}: a git hook", file.display())));
            self.hooks.retain(|file| !remaining.contains(file));
        }
        self.state = layout.all_state_dirs(&context.env);
        self.state.retain(|dir| !self.kept.contains(dir));
        let has_daemons = self.state.contains(&layout.state_dir);
        // Until this function ends, the locks keep clients from starting a daemon, which would use the state while it is removed.
        let locks = has_daemons.then(|| lock_out_daemons(layout, &context.env, &ClientOptions::read()));
        let _locks = locks.transpose()?;
        if has_daemons && (self.export.is_some() || may_have_memories(&layout.state_dir)) {
            self.export_newest_memories(context)?;
        }
        let files = self.find_files_to_move();
        if let Some(dir) = &self.moved_to {
            move_files(&files, dir)?;
        }
        self.state.iter().try_for_each(|dir| remove_state_dir(dir))?;
        if let Some(file) = &self.asked_for {
            fs::remove_file(file).at("remove", file)?;
        }
        Ok(())
    }

    /// Removes the incomplete exports of killed runs.
    fn remove_stale_part_files(&self) {
        let name = self.export_path.file_name().unwrap_or_default().to_string_lossy();
        let dir =
            self.export_path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = if name.starts_with(EXPORT_PREFIX) { EXPORT_PREFIX } else { &*name };
        remove_stale_part_files(dir, name);
    }

    /// Exports the memories once more, because the daemon may have acknowledged some after the first export.
    fn export_newest_memories(&mut self, context: &CommandContext) -> Result<(), CliError> {
        let end = exchange::export_without_daemon(context, &self.export_path)?;
        if end.memories > 0 {
            (self.memories, self.links) = (end.memories, end.links);
            self.export = Some(self.export_path.clone());
        }
        Ok(())
    }

    fn print_installed_parts(&self, output: &mut Output) -> Result<(), CliError> {
        let mut print_escaped_row =
            |label: &str, text: &str| print_field(label, &escape_for_display(text), output);
        for file in &self.hooks {
            print_escaped_row("git hook", &file.display().to_string())?;
        }
        for report in &self.setup {
            let files: Vec<&str> = report.files.iter().map(|file| file.shown.as_str()).collect();
            print_escaped_row(
                "agent",
                &format!("{}: {} (for all repositories)", report.name, files.join(", ")),
            )?;
        }
        for dir in &self.state {
            print_escaped_row("state", &dir.display().to_string())?;
        }
        if let [_, _, ..] = self.worktrees[..] {
            let roots: Vec<String> = self.worktrees.iter().map(|root| root.display().to_string()).collect();
            print_escaped_row("shared by", &roots.join(", "))?;
        }
        if let Some(path) = &self.export {
            let memories = format_count(self.memories, "memory", "memories");
            print_escaped_row("memories", &format!("{memories}, exported first to {}", path.display()))?;
            print_escaped_row(
                "lost",
                "the history of their changes, and memod's own backups; `memo backup FILE` saves the history",
            )?;
        }
        if let Some(dir) = &self.moved_to {
            print_escaped_row(
                "kept",
                &format!("damaged databases and your backups, moved to {}", dir.display()),
            )?;
        }
        for dir in &self.kept {
            print_escaped_row("stays", &format!("{}: its memories cannot be read", dir.display()))?;
        }
        self.notice.iter().chain(&self.behind).for_each(|text| output.write_warning(text));
        Ok(())
    }

    /// Writes a summary of the removal, and the next steps, to stderr.
    fn write_uninstall_summary(&self, output: &Output) {
        if let Some(path) = &self.export {
            let memories = format_count(self.memories, "memory", "memories");
            let path = path.display().to_string();
            output.write_note(&format!(
                "{memories} and {} are in {path}",
                format_count(self.links, "link", "links")
            ));
            output.write_note(&format!(
                "`memo import --own --allow-secret {}` reads them back",
                shell_word(&path)
            ));
        }
        if let Some(dir) = &self.moved_to {
            output.write_note(&format!("damaged databases and your backups are in {}", dir.display()));
        }
        for left in &self.left {
            output.write_warning(&format!("left: {left}"));
        }
        if !self.project.is_empty() {
            let files = self.project.join(", ");
            output.write_note(&format!(
                "left in the project: {files}; `memo setup --undo --scope project` undoes these changes"
            ));
        }
        output.write_note("memod is removed; running agents use it until they are started again");
        output.write_note("remove the programs with `cargo uninstall memod` or your package manager");
    }
}
