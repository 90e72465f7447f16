//! Runs `memo backup` and `memo backup restore`.

use std::path::{Path, PathBuf};

use memod_proto::exchange::{BackupParams, BackupResult, RestoreParams, RestoreResult};
use memod_terminal::text::{format_bytes, format_count};
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};

use super::limited_files::canonical_string;
use crate::args::{BackupArgs, RestoreBackupArgs};
use crate::memories::new_caller;

/// Makes a backup of all memories, and prints its path.
pub(crate) fn back_up(typed: &BackupArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let path = typed.path.as_deref().map(absolute_new_path).transpose()?;
    let params = BackupParams { caller: new_caller(context), path };
    let result: BackupResult = context.connect()?.call("memory.backup", &params)?;
    output.write_result(&result, |output| {
        output.write_line(&result.path)?;
        output.flush()?;
        output.write_note(&format!(
            "{}, {}",
            format_count(result.memories, "memory", "memories"),
            format_bytes(result.bytes)
        ));
        Ok(())
    })?;
    output.write_caveats(&result.caveats);
    Ok(0)
}

/// Returns the absolute path of a file that need not exist yet; its directory must exist.
fn absolute_new_path(path: &Path) -> Result<String, CliError> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let path = PathBuf::from(canonical_string(dir)?).join(path.file_name().unwrap_or_default());
    path.into_os_string().into_string().map_err(|path| CliError::NotUtf8(PathBuf::from(path)))
}

/// Shows what would change, asks for a confirmation, and restores the backup. Exits with 1 when nothing would change.
pub(crate) fn restore_backup(
    typed: &RestoreBackupArgs,
    context: &CommandContext,
    output: &mut Output,
) -> CliResult {
    let needs_consent = !typed.yes && !typed.dry_run;
    let path = if typed.path == Path::new("latest") { None } else { Some(canonical_string(&typed.path)?) };
    let mut params = RestoreParams { caller: new_caller(context), path, dry_run: !typed.yes };
    let mut client = context.connect()?;
    let mut result: RestoreResult = client.call("memory.restore_backup", &params)?;
    // Check for a terminal only after the dry run, so that a missing or damaged backup is reported first.
    if needs_consent {
        output
            .require_terminal("replacing all memories", "--dry-run shows what would change, --yes does it")?;
    }
    let changes_nothing = !changes_anything(&result);
    if output.write_json {
        output.is_json_object(&result)?;
        return Ok(if changes_nothing { EXIT_NOTHING_FOUND } else { 0 });
    }
    print_restore_result(&result, output)?;
    if needs_consent
        && !changes_nothing
        && output.ask_for_confirmation("replace all memories by the backup?")?
    {
        // Restore the backup that was shown: a newer one may exist by now.
        (params.dry_run, params.path) = (false, Some(result.path));
        result = client.call("memory.restore_backup", &params)?;
    }
    match &result.kept {
        Some(kept) => output.write_note(&format!("restored; a backup of the former memories is in {kept}")),
        None => output.write_note("nothing was changed"),
    }
    output.write_caveats(&result.caveats);
    Ok(if changes_nothing { EXIT_NOTHING_FOUND } else { 0 })
}

fn changes_anything(result: &RestoreResult) -> bool {
    let RestoreResult { only_here, only_there, differ, files_written, files_removed, .. } = result;
    only_here + only_there + differ + files_written + files_removed > 0
}

fn print_restore_result(result: &RestoreResult, output: &mut Output) -> Result<(), CliError> {
    let RestoreResult { path, here, there, only_here, only_there, differ, .. } = result;
    let RestoreResult { files_written, files_removed, files_kept, files_gone, .. } = result;
    output.write_line(&format!("{path}: {}, here {here}", format_count(*there, "memory", "memories")))?;
    let [are, would] = if result.dry_run { ["would be ", "would "] } else { ["are ", ""] };
    output.write_line(&format!(
        "{only_there} {would}come back, {only_here} {are}removed, {differ} {are}reverted"
    ))?;
    if files_written + files_removed > 0 {
        output.write_line(&format!(
            "files of shared memories: {files_written} {are}written again, {files_removed} {are}removed"
        ))?;
    }
    if *files_kept > 0 {
        output.write_line(&format!(
            "files that others changed after the backup were not restored: {files_kept}"
        ))?;
    }
    if *files_gone > 0 {
        output.write_line(&format!(
            "files that others removed after the backup stay removed: {files_gone}; `memo restore ID` writes the file of one memory again"
        ))?;
    }
    output.flush()
}
