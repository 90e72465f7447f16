//! Writes memories into an export file.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::jsonl::{End, Header};
use crate::cli::args::ExportArgs;
use crate::cli::context::CommandContext;
use crate::cli::error::{CliError, CliResult};
use crate::cli::memories::caller;
use crate::cli::output::Output;
use crate::cli::text::count;
use crate::client::{Client, Options, StoppedMemories, VERSION};
use crate::paths::{IoContext, canonical};
use crate::proto::exchange::{ExportParams, ExportResult, FORMAT, FORMAT_VERSION, LinkDraft};
use crate::proto::memory::Memory;

/// One line of the file.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Line<'a> {
    Memory(&'a Memory),
    Link(&'a LinkDraft),
    End(End),
}

/// Writes page by page, and holds only ids and links in memory.
pub(in crate::cli) fn export(typed: ExportArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let mut params = ExportParams {
        caller: caller(context),
        selection: typed.filter.with_ids(Vec::new()),
        include_vectors: typed.include_vectors,
        ..ExportParams::default()
    };
    let mut client = context.connect()?;
    let Some(path) = &typed.out else {
        let end = write(&mut client, &mut params, typed.archived, &mut |line| output.raw(line))?;
        output.flush()?;
        say(end, output);
        return Ok(0);
    };
    if let Some(dir) = context.layout.own_state(path, &context.env) {
        let message = format!("--out: {} is part of memod's own state, {}", path.display(), dir.display());
        return Err(CliError::Usage { message, hint: "name a file elsewhere" });
    }
    if fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir()) {
        // A file must not replace a pipe or a device.
        let mut file = BufWriter::new(File::options().write(true).open(path).at("open", path)?);
        let mut put = |line: &[u8]| Ok(file.write_all(line).at("write", path)?);
        let end = write(&mut client, &mut params, typed.archived, &mut put)?;
        file.flush().at("write", path)?;
        return done(path, end, output);
    }
    let mut file = Aside::create(path)?;
    let end = write(&mut client, &mut params, typed.archived, &mut |line| file.write(line))?;
    file.keep()?;
    done(path, end, output)
}

/// Writes all memories, archived ones included, and their links into a new file. Without a path they are only counted.
/// Returns also what must be said about them.
///
/// A file that could not be written completely is removed.
pub(in crate::cli) fn export_all(
    client: &mut Client,
    context: &CommandContext,
    path: Option<&Path>,
) -> Result<(End, Option<String>), CliError> {
    let mut params = ExportParams { caller: caller(context), ..ExportParams::default() };
    let mut page = |params: &ExportParams| Ok(client.call("memory.export", params)?);
    let Some(path) = path else { return write_noting(&mut page, &mut params, true, &mut |_| Ok(())) };
    let mut options = File::options();
    options.write(true).create_new(true); // it keeps the name
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).at("create", path)?;
    let written = Aside::create(path).and_then(|mut file| {
        let done = write_noting(&mut page, &mut params, true, &mut |line| file.write(line))?;
        file.keep()?;
        Ok(done)
    });
    written.inspect_err(|_| drop(fs::remove_file(path)))
}

/// As [`export_all`], of a repository whose daemons are locked out. Replaces a file that `export_all` has written. Writes none
/// if there are no memories.
pub(in crate::cli) fn export_stopped(context: &CommandContext, path: &Path) -> Result<End, CliError> {
    let mut memories = StoppedMemories::open(&context.layout, &Options::read())?;
    let mut file = Aside::create(path)?;
    let mut page = |_: &ExportParams| Ok(memories.next_page()?);
    let mut put = |line: &[u8]| file.write(line);
    let (end, _) = write_noting(&mut page, &mut ExportParams::default(), true, &mut put)?;
    if end.memories > 0 {
        file.keep()?;
    }
    Ok(end)
}

fn done(path: &Path, end: End, output: &mut Output) -> CliResult {
    if output.json {
        output.json(&serde_json::json!({ "path": path, "memories": end.memories, "links": end.links }))?;
    } else {
        say(end, output);
    }
    Ok(0)
}

fn say(end: End, output: &Output) {
    let memories = count(end.memories, "memory", "memories");
    output.say(&format!("{memories} and {} exported", count(end.links, "link", "links")));
}

/// Returns the page of an export that params name.
type Page<'a> = dyn FnMut(&ExportParams) -> Result<ExportResult, CliError> + 'a;

type Put<'a> = dyn FnMut(&[u8]) -> Result<(), CliError> + 'a;

fn write(
    client: &mut Client,
    params: &mut ExportParams,
    archived: bool,
    put: &mut Put<'_>,
) -> Result<End, CliError> {
    let mut page = |params: &ExportParams| Ok(client.call("memory.export", params)?);
    write_noting(&mut page, params, archived, put).map(|(end, _)| end)
}

/// Returns also the notice of the last page.
fn write_noting(
    next_page: &mut Page<'_>,
    params: &mut ExportParams,
    archived: bool,
    put: &mut Put<'_>,
) -> Result<(End, Option<String>), CliError> {
    let header = Header { format: FORMAT.to_owned(), version: FORMAT_VERSION, memod: VERSION.to_owned() };
    let mut header = Some(line(&header));
    let (mut ids, mut links, mut notice) = (HashSet::new(), Vec::new(), None);
    for is_archive in [false, true] {
        if is_archive && !archived {
            break;
        }
        (params.archived, params.after) = (is_archive, 0);
        loop {
            let page = next_page(params)?;
            // Not before: the request may be refused, and a reader of a pipe would have half a file.
            if let Some(header) = header.take() {
                put(&header)?;
            }
            for memory in &page.memories {
                // A memory that has expired since is in the file already.
                if ids.insert(memory.id.clone()) {
                    put(&line(&Line::Memory(memory)))?;
                }
            }
            links.extend(page.links);
            notice = page.notice;
            match page.next {
                Some(next) => params.after = next,
                None => break,
            }
        }
    }
    links.retain(|link| ids.contains(&link.source) && ids.contains(&link.target));
    links.sort_by(|a: &LinkDraft, b| (&a.source, &a.target, &a.kind).cmp(&(&b.source, &b.target, &b.kind)));
    links.dedup();
    links.iter().try_for_each(|link| put(&line(&Line::Link(link))))?;
    let end = End { memories: ids.len() as u64, links: links.len() as u64 };
    put(&line(&Line::End(end)))?;
    Ok((end, notice))
}

fn line<T: Serialize>(value: &T) -> Vec<u8> {
    let mut line = serde_json::to_vec(value).expect("our own types have string keys");
    line.push(b'\n');
    line
}

/// Names next to a file that are tried; others may be left of exports that were killed.
const MOST_TAKEN: u32 = 100;

/// Returns a name next to a file; another one for each number.
fn aside_name(path: &Path, taken: u32) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    if taken > 0 {
        name.push(format!("-{taken}"));
    }
    name.push(".part");
    path.with_file_name(name)
}

/// A file that replaces another once it is complete.
struct Aside {
    path: PathBuf,
    aside: PathBuf,
    file: BufWriter<File>,
    is_kept: bool,
}

impl Aside {
    fn create(path: &Path) -> Result<Self, CliError> {
        // Replace the target of a symbolic link, not the link.
        let path = canonical(path).unwrap_or_else(|_| path.to_owned());
        let mut options = File::options();
        // Not over what is there: it may be a link that came with the repository.
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut taken = 0;
        let (file, aside) = loop {
            let aside = aside_name(&path, taken);
            match options.open(&aside) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists && taken < MOST_TAKEN => taken += 1,
                opened => break (opened.at("create", &aside)?, aside),
            }
        };
        let file = BufWriter::new(file);
        Ok(Self { path, aside, file, is_kept: false })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        Ok(self.file.write_all(bytes).at("write", &self.aside)?)
    }

    fn keep(mut self) -> Result<(), CliError> {
        self.file.flush().at("write", &self.aside)?;
        self.file.get_ref().sync_all().at("write", &self.aside)?;
        fs::rename(&self.aside, &self.path).at("rename to", &self.path)?;
        self.is_kept = true;
        Ok(())
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = fs::remove_file(&self.aside); // what is left of an export that failed
        }
    }
}
