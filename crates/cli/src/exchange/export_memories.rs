//! Writes memories into an export file.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use memod_base::paths::IoContext;
use memod_client::{Client, ClientOptions, StoppedMemories, VERSION};
use memod_proto::Caveats;
use memod_proto::exchange::{EXPORT_FORMAT, ExportParams, ExportResult, FORMAT_VERSION, LinkDraft};
use memod_proto::memory::Memory;
use memod_terminal::text::{format_count, not_up_to_date_message};
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_NOTHING_FOUND, Output, PartFile};
use serde::Serialize;

use super::import_jsonl::{ExportCounts, ExportHeader};
use crate::args::ExportArgs;
use crate::memories::new_caller;

/// One line of an export file, after the header.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum ExportLine<'a> {
    Memory(&'a Memory),
    Link(&'a LinkDraft),
    End(ExportCounts),
}

/// The counts of an export, and the caveats of its answers.
pub(crate) struct ExportOutcome {
    pub(crate) counts: ExportCounts,
    pub(crate) caveats: Caveats,
}

/// The report on an export into a file.
#[derive(Serialize)]
struct ExportReport<'a> {
    path: &'a Path,
    memories: u64,
    links: u64,
    #[serde(flatten)]
    caveats: &'a Caveats,
}

/// Exports memories to stdout or a file. Fetches them page by page, so that only ids and links are held in memory. Exits with 1
/// when a memory may be out of date.
pub(crate) fn export_memories(typed: ExportArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let mut params = ExportParams {
        caller: new_caller(context),
        selection: typed.filter.into_selection(Vec::new()),
        include_vectors: typed.include_vectors,
        ..ExportParams::default()
    };
    let mut client = context.connect()?;
    let Some(path) = &typed.out else {
        let outcome =
            write_export(&mut client, &mut params, typed.archived, &mut |line| output.write_bytes(line))?;
        output.flush()?;
        return Ok(report_exported_counts(&outcome, output));
    };
    if let Some(dir) = context.layout.find_own_state_dir(path, &context.env) {
        let message = format!("--out: {} is part of memod's own state, {}", path.display(), dir.display());
        return Err(CliError::Usage { message, hint: "name a file elsewhere" });
    }
    if fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir()) {
        // A file must not replace a pipe or a device.
        let mut file = BufWriter::new(File::options().write(true).open(path).at("open", path)?);
        let mut put_line = |line: &[u8]| Ok(file.write_all(line).at("write", path)?);
        let outcome = write_export(&mut client, &mut params, typed.archived, &mut put_line)?;
        file.flush().at("write", path)?;
        return report_export(path, &outcome, output);
    }
    if !typed.force && fs::symlink_metadata(path).is_ok() {
        let message = format!("--out: {}: the file exists", path.display());
        return Err(CliError::Usage { message, hint: "name another file, or replace it with --force" });
    }
    let mut file = PartFile::create(path)?;
    let outcome = write_export(&mut client, &mut params, typed.archived, &mut |line| file.write(line))?;
    if typed.force { file.replace_target() } else { file.create_target() }?;
    report_export(path, &outcome, output)
}

/// Writes all memories, archived ones included, and their links into a new file. Without a path, only counts them.
///
/// The file gets its name once it is complete. Fails if a file of that name exists.
pub(crate) fn export_all(
    client: &mut Client,
    context: &CommandContext,
    path: Option<&Path>,
) -> Result<ExportOutcome, CliError> {
    let mut params = ExportParams { caller: new_caller(context), ..ExportParams::default() };
    let Some(path) = path else { return write_export(client, &mut params, true, &mut |_| Ok(())) };
    let mut file = PartFile::create(path)?;
    let outcome = write_export(client, &mut params, true, &mut |line| file.write(line))?;
    file.create_target()?;
    Ok(outcome)
}

/// Like [`export_all`], but of a repository whose daemons are locked out. Replaces a file that `export_all` has written. Writes
/// none if there are no memories.
pub(crate) fn export_without_daemon(context: &CommandContext, path: &Path) -> Result<ExportCounts, CliError> {
    let mut memories = StoppedMemories::open(&context.layout, &ClientOptions::read())?;
    let mut file = PartFile::create(path)?;
    let mut fetch_page = |_: &ExportParams| Ok(memories.next_page()?);
    let mut put_line = |line: &[u8]| file.write(line);
    let outcome = write_pages(&mut fetch_page, &mut ExportParams::default(), &[false, true], &mut put_line)?;
    if outcome.counts.memories > 0 {
        file.replace_target()?;
    }
    Ok(outcome.counts)
}

/// Prints the report on an export into a file, and returns the exit status.
fn report_export(path: &Path, outcome: &ExportOutcome, output: &mut Output) -> CliResult {
    if !output.write_json {
        return Ok(report_exported_counts(outcome, output));
    }
    let ExportOutcome { counts, caveats } = outcome;
    output.is_json_object(&ExportReport { path, memories: counts.memories, links: counts.links, caveats })?;
    Ok(exit_status_for_caveats(caveats))
}

fn report_exported_counts(outcome: &ExportOutcome, output: &Output) -> u8 {
    let ExportOutcome { counts, caveats } = outcome;
    let memories = format_count(counts.memories, "memory", "memories");
    output.write_note(&format!("{memories} and {} exported", format_count(counts.links, "link", "links")));
    if output.write_json && !caveats.fresh {
        output.write_warning(&not_up_to_date_message(caveats.reason.as_deref())); // stdout has the memories alone
    }
    output.write_caveats(caveats);
    exit_status_for_caveats(caveats)
}

/// Returns a failure if a memory may be out of date, so that a script does not take the file for a complete backup.
fn exit_status_for_caveats(caveats: &Caveats) -> u8 {
    if caveats.fresh { 0 } else { EXIT_NOTHING_FOUND }
}

/// Fetches the page of an export that the params select.
type FetchPage<'a> = dyn FnMut(&ExportParams) -> Result<ExportResult, CliError> + 'a;

/// Writes the bytes of one line.
type PutLine<'a> = dyn FnMut(&[u8]) -> Result<(), CliError> + 'a;

fn write_export(
    client: &mut Client,
    params: &mut ExportParams,
    archived: bool,
    put_line: &mut PutLine<'_>,
) -> Result<ExportOutcome, CliError> {
    let mut fetch_page = |params: &ExportParams| Ok(client.call("memory.export", params)?);
    // A third pass, because an archived memory may have been restored between the first two.
    let passes: &[bool] = if archived { &[false, true, false] } else { &[false] };
    write_pages(&mut fetch_page, params, passes, put_line)
}

/// Writes the header, the memories, the links and the counts of an export. Each pass fetches all archived (`true`) or all other
/// memories (`false`).
fn write_pages(
    fetch_page: &mut FetchPage<'_>,
    params: &mut ExportParams,
    passes: &[bool],
    put_line: &mut PutLine<'_>,
) -> Result<ExportOutcome, CliError> {
    let header =
        ExportHeader { format: EXPORT_FORMAT.to_owned(), version: FORMAT_VERSION, memod: VERSION.to_owned() };
    let mut header = Some(json_line(&header));
    let (mut ids, mut n_memories) = (HashMap::new(), 0);
    let (mut links, mut caveats) = (Vec::new(), Caveats::default());
    for &is_archive in passes {
        (params.archived, params.after) = (is_archive, 0);
        loop {
            let page = fetch_page(params)?;
            // Write the header only after the first page was fetched: if the request is refused, a reader of a pipe gets nothing.
            if let Some(header) = header.take() {
                put_line(&header)?;
            }
            for memory in &page.memories {
                // Passes may repeat a memory. An archived memory of this user and a shared one may have the same id.
                if ids.entry(memory.id.clone()).or_insert_with(HashSet::new).insert(memory.shared) {
                    put_line(&json_line(&ExportLine::Memory(memory)))?;
                    n_memories += 1;
                }
            }
            links.extend(page.links);
            caveats.add_caveats(page.caveats);
            match page.next {
                Some(next) => params.after = next,
                None => break,
            }
        }
    }
    links.retain(|link| ids.contains_key(&link.source) && ids.contains_key(&link.target));
    links.sort_by(|a: &LinkDraft, b| (&a.source, &a.target, &a.kind).cmp(&(&b.source, &b.target, &b.kind)));
    links.dedup();
    links.iter().try_for_each(|link| put_line(&json_line(&ExportLine::Link(link))))?;
    let counts = ExportCounts { memories: n_memories, links: links.len() as u64 };
    put_line(&json_line(&ExportLine::End(counts)))?;
    Ok(ExportOutcome { counts, caveats })
}

fn json_line<T: Serialize>(value: &T) -> Vec<u8> {
    let mut line = serde_json::to_vec(value).expect("our own types have string keys");
    line.push(b'\n');
    line
}
