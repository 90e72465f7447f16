//! Writes memories into an export file.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use memod_base::paths::IoContext;
use memod_client::{Client, Options, StoppedMemories, VERSION};
use memod_proto::Caveats;
use memod_proto::exchange::{ExportParams, ExportResult, FORMAT, FORMAT_VERSION, LinkDraft};
use memod_proto::memory::Memory;
use serde::Serialize;

use super::jsonl::{End, Header};
use crate::args::ExportArgs;
use crate::context::CommandContext;
use crate::error::{CliError, CliResult, EXIT_NONE};
use crate::memories::caller;
use crate::output::Output;
use crate::part_file::PartFile;
use crate::text::{behind, count};

/// One line of the file.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Line<'a> {
    Memory(&'a Memory),
    Link(&'a LinkDraft),
    End(End),
}

/// The counts of an export, and its caveats.
type Written = (End, Caveats);

/// The report on an export into a file.
#[derive(Serialize)]
struct Exported<'a> {
    path: &'a Path,
    memories: u64,
    links: u64,
    #[serde(flatten)]
    caveats: &'a Caveats,
}

/// Writes page by page, and holds only ids and links in memory. Exits with 1 when a memory may be as it was some time ago.
pub(crate) fn export(typed: ExportArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let mut params = ExportParams {
        caller: caller(context),
        selection: typed.filter.with_ids(Vec::new()),
        include_vectors: typed.include_vectors,
        ..ExportParams::default()
    };
    let mut client = context.connect()?;
    let Some(path) = &typed.out else {
        let written = write(&mut client, &mut params, typed.archived, &mut |line| output.raw(line))?;
        output.flush()?;
        return Ok(say(&written, output));
    };
    if let Some(dir) = context.layout.own_state(path, &context.env) {
        let message = format!("--out: {} is part of memod's own state, {}", path.display(), dir.display());
        return Err(CliError::Usage { message, hint: "name a file elsewhere" });
    }
    if fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir()) {
        // A file must not replace a pipe or a device.
        let mut file = BufWriter::new(File::options().write(true).open(path).at("open", path)?);
        let mut put = |line: &[u8]| Ok(file.write_all(line).at("write", path)?);
        let written = write(&mut client, &mut params, typed.archived, &mut put)?;
        file.flush().at("write", path)?;
        return done(path, &written, output);
    }
    if !typed.force && fs::symlink_metadata(path).is_ok() {
        let message = format!("--out: {}: the file exists", path.display());
        return Err(CliError::Usage { message, hint: "name another file, or replace it with --force" });
    }
    let mut file = PartFile::create(path)?;
    let written = write(&mut client, &mut params, typed.archived, &mut |line| file.write(line))?;
    if typed.force { file.keep() } else { file.keep_new() }?;
    done(path, &written, output)
}

/// Writes all memories, archived ones included, and their links into a new file. Without a path they are only counted.
/// Returns also what must be said about them.
///
/// The file has its name once it is complete, and replaces none.
pub(crate) fn export_all(
    client: &mut Client,
    context: &CommandContext,
    path: Option<&Path>,
) -> Result<Written, CliError> {
    let mut params = ExportParams { caller: caller(context), ..ExportParams::default() };
    let Some(path) = path else { return write(client, &mut params, true, &mut |_| Ok(())) };
    let mut file = PartFile::create(path)?;
    let done = write(client, &mut params, true, &mut |line| file.write(line))?;
    file.keep_new()?;
    Ok(done)
}

/// As [`export_all`], of a repository whose daemons are locked out. Replaces a file that `export_all` has written. Writes none
/// if there are no memories.
pub(crate) fn export_stopped(context: &CommandContext, path: &Path) -> Result<End, CliError> {
    let mut memories = StoppedMemories::open(&context.layout, &Options::read())?;
    let mut file = PartFile::create(path)?;
    let mut page = |_: &ExportParams| Ok(memories.next_page()?);
    let mut put = |line: &[u8]| file.write(line);
    let (end, _) = write_pages(&mut page, &mut ExportParams::default(), &[false, true], &mut put)?;
    if end.memories > 0 {
        file.keep()?;
    }
    Ok(end)
}

/// Reports an export into a file.
fn done(path: &Path, written: &Written, output: &mut Output) -> CliResult {
    if !output.json {
        return Ok(say(written, output));
    }
    let (end, caveats) = written;
    output.json(&Exported { path, memories: end.memories, links: end.links, caveats })?;
    Ok(exit(caveats))
}

fn say((end, caveats): &Written, output: &Output) -> u8 {
    let memories = count(end.memories, "memory", "memories");
    output.say(&format!("{memories} and {} exported", count(end.links, "link", "links")));
    if output.json && !caveats.fresh {
        output.warn(&behind(caveats.reason.as_deref())); // stdout has the memories alone
    }
    output.say_caveats(caveats);
    exit(caveats)
}

/// Fails where a memory may be as it was some time ago, so that a script does not take the file for a backup.
fn exit(caveats: &Caveats) -> u8 {
    if caveats.fresh { 0 } else { EXIT_NONE }
}

/// Returns the page of an export that params name.
type Page<'a> = dyn FnMut(&ExportParams) -> Result<ExportResult, CliError> + 'a;

type Put<'a> = dyn FnMut(&[u8]) -> Result<(), CliError> + 'a;

fn write(
    client: &mut Client,
    params: &mut ExportParams,
    archived: bool,
    put: &mut Put<'_>,
) -> Result<Written, CliError> {
    let mut page = |params: &ExportParams| Ok(client.call("memory.export", params)?);
    // The living once more: one that was in the archive may have been brought back between the first two.
    let passes: &[bool] = if archived { &[false, true, false] } else { &[false] };
    write_pages(&mut page, params, passes, put)
}

/// Writes all pages, in each pass those of the archive or of the living.
fn write_pages(
    next_page: &mut Page<'_>,
    params: &mut ExportParams,
    passes: &[bool],
    put: &mut Put<'_>,
) -> Result<Written, CliError> {
    let header = Header { format: FORMAT.to_owned(), version: FORMAT_VERSION, memod: VERSION.to_owned() };
    let mut header = Some(line(&header));
    let (mut ids, mut n_memories) = (HashMap::new(), 0);
    let (mut links, mut caveats) = (Vec::new(), Caveats::default());
    for &is_archive in passes {
        (params.archived, params.after) = (is_archive, 0);
        loop {
            let page = next_page(params)?;
            // Not before: the request may be refused, and a reader of a pipe would have half a file.
            if let Some(header) = header.take() {
                put(&header)?;
            }
            for memory in &page.memories {
                // One that has expired since is written already. An archived memory of this user and a shared one may have the same id.
                if ids.entry(memory.id.clone()).or_insert_with(HashSet::new).insert(memory.shared) {
                    put(&line(&Line::Memory(memory)))?;
                    n_memories += 1;
                }
            }
            links.extend(page.links);
            caveats.add(page.caveats);
            match page.next {
                Some(next) => params.after = next,
                None => break,
            }
        }
    }
    links.retain(|link| ids.contains_key(&link.source) && ids.contains_key(&link.target));
    links.sort_by(|a: &LinkDraft, b| (&a.source, &a.target, &a.kind).cmp(&(&b.source, &b.target, &b.kind)));
    links.dedup();
    links.iter().try_for_each(|link| put(&line(&Line::Link(link))))?;
    let end = End { memories: n_memories, links: links.len() as u64 };
    put(&line(&Line::End(end)))?;
    Ok((end, caveats))
}

fn line<T: Serialize>(value: &T) -> Vec<u8> {
    let mut line = serde_json::to_vec(value).expect("our own types have string keys");
    line.push(b'\n');
    line
}
