//! Reads the named stages of a Dockerfile, and the stages that instructions copy from or begin with.

use super::format_names::{FormatNames, bytes_of};
use crate::definitions::tags::TagKind;

/// Returns the stages with a name, each from its `FROM` to the next, and the names of stages in `FROM`, `COPY --from=` and mounts.
pub(super) fn read_names<'a>(_path: &str, text: &'a str) -> FormatNames<'a> {
    let mut names = FormatNames::default();
    let mut stage: Option<(&'a str, usize)> = None;
    // End of the last line that belongs to the current stage. Comments above a stage belong to that stage.
    let mut last_end = 0;
    let mut at = 0;
    let mut heredoc: Option<&str> = None;
    let mut is_continued = false;
    for whole in text.split_inclusive('\n') {
        let (start, line) = (at, whole.trim_end());
        at += whole.len();
        let own = line.trim_start();
        if let Some(word) = heredoc {
            heredoc = heredoc.filter(|_| own != word);
            last_end = start + line.len();
            continue;
        }
        if own.starts_with('#') {
            let indent = line.len() - own.len();
            names.comments.push(start + indent..start + line.len());
            continue;
        }
        if own.is_empty() {
            continue;
        }
        let mut words = own.split_whitespace();
        let instruction = words.next().filter(|_| !is_continued).unwrap_or_default();
        if instruction.eq_ignore_ascii_case("from") {
            end_stage(&mut names, stage.take(), last_end);
            let mut rest = words.skip_while(|word| word.starts_with("--"));
            if let Some(image) = rest.next() {
                names.found.add_format_use(text, bytes_of(text, image), None, false);
            }
            let is_named = rest.next().is_some_and(|word| word.eq_ignore_ascii_case("as"));
            stage = rest.next().filter(|_| is_named).map(|name| (name, start + line.len() - own.len()));
        } else {
            add_copied_stages(&mut names, text, own);
        }
        is_continued = own.ends_with(['\\', '`']);
        heredoc = heredoc_word(own);
        last_end = start + line.len();
    }
    end_stage(&mut names, stage, last_end);
    names
}

fn end_stage<'a>(names: &mut FormatNames<'a>, stage: Option<(&'a str, usize)>, end: usize) {
    if let Some((name, start)) = stage {
        names.add_item(TagKind::Struct, name, name.to_owned(), start..end);
    }
}

/// Records the stages in `--from=build` and `--mount=type=bind,from=build`.
fn add_copied_stages<'a>(names: &mut FormatNames<'a>, text: &'a str, line: &'a str) {
    for word in line.split_whitespace().take_while(|word| !word.starts_with('#')) {
        let options = word.strip_prefix("--").unwrap_or_default();
        for stage in options.split(',').filter_map(|option| option.strip_prefix("from=")) {
            names.found.add_format_use(text, bytes_of(text, stage), None, false);
        }
    }
}

/// Returns the word that ends the heredoc of an instruction: `EOF` of `RUN <<EOF`.
fn heredoc_word(line: &str) -> Option<&str> {
    let is_instruction = ["RUN ", "COPY ", "ADD "]
        .iter()
        .any(|word| line.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word)));
    let (_, rest) = line.split_once("<<").filter(|_| is_instruction)?;
    let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start_matches(['"', '\'']);
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    (end > 0).then(|| &rest[..end])
}
