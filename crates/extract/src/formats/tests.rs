//! Checks each reader against its fixture, and with broken texts.
//!
//! A fixture is `grammars/<format>/fixture.<ext>`; its expected definitions and uses are in `grammars/<format>/expected.txt`.
//! `MEMO_BLESS=1 cargo test -p memod-extract formats` writes the result; read the difference before you commit it.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use memod_base::types::{ChunkKind, UseReceiver};

use super::READERS;
use crate::extract;
use crate::lang::detect_format;

fn read_fixture(format: &str) -> (PathBuf, String) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../grammars").join(format);
    let mut paths = fs::read_dir(&directory).unwrap().map(|file| file.unwrap().path());
    let path = paths.find(|path| path.file_stem().is_some_and(|stem| stem == "fixture")).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    (path, text)
}

/// Returns one line for each definition, import and use.
fn show_names(path: &str, text: &str) -> String {
    let found = extract(path, text);
    let structure = &found.structure;
    let mut lines = String::new();
    for own in &structure.declared {
        let (first, last) = own.lines;
        writeln!(lines, "{:?} {} ({}) {} of {first}-{last}", own.role, own.title, own.names, own.name_at.0)
            .unwrap();
    }
    if !structure.package.is_empty() {
        writeln!(lines, "package {}", structure.package).unwrap();
    }
    for import in &structure.imports {
        writeln!(lines, "import {} from {} {}", import.local, import.module, import.line).unwrap();
    }
    lines.push_str("\nuses\n");
    for used in &structure.uses {
        let receiver = match used.receiver {
            UseReceiver::Named(path) => format!("{} ", structure.name(path)),
            _ => String::new(),
        };
        let within = structure.find_item(used.enclosing_id()).map_or("", |item| item.title.as_str());
        writeln!(lines, "{} {receiver}{} {:?} in {within}", used.line, structure.name(used.name), used.role)
            .unwrap();
    }
    lines
}

#[test]
fn each_reader_finds_what_its_fixture_expects() {
    for (format, _) in READERS {
        let (path, text) = read_fixture(format);
        assert_eq!(detect_format(path.to_str().unwrap(), "").name(), Some(format));
        let found = show_names(path.to_str().unwrap(), &text);
        let expected_path = path.with_file_name("expected.txt");
        if std::env::var_os("MEMO_BLESS").is_some() {
            fs::write(&expected_path, &found).unwrap();
        }
        assert_eq!(found, fs::read_to_string(&expected_path).unwrap(), "{format}");
    }
}

#[test]
fn chunks_cover_every_definition_once() {
    for (format, _) in READERS {
        let (path, text) = read_fixture(format);
        let found = extract(path.to_str().unwrap(), &text);
        let mut end = 0;
        for chunk in found.chunks.iter().filter(|chunk| chunk.kind != ChunkKind::Map) {
            assert!(chunk.bytes.start >= end, "{format}: {chunk:?}");
            end = chunk.bytes.end;
        }
        let symbols: Vec<_> = found.chunks.iter().filter_map(|chunk| chunk.symbol.as_deref()).collect();
        let symbols = symbols.join(" ");
        for own in found.definitions.iter().filter(|own| !own.is_field) {
            let has_name = own.names.split(' ').all(|name| symbols.split(' ').any(|symbol| symbol == name));
            assert!(has_name, "{format}: {} is not in {symbols}", own.title);
        }
    }
}

/// Each reader accepts the parts of every fixture, cut anywhere, and texts that repeat its own marks.
#[test]
fn broken_texts_are_read() {
    let texts: Vec<String> = READERS.iter().map(|(format, _)| read_fixture(format).1).collect();
    for (format, reader) in READERS {
        for text in &texts {
            let cuts = (0..text.len()).step_by(7).filter(|at| text.is_char_boundary(*at));
            for at in cuts {
                let _ = reader("a", &text[at..]);
                let _ = extract(read_fixture(format).0.to_str().unwrap(), &text[..at]);
            }
        }
    }
}

#[test]
fn time_grows_with_the_length_of_a_text() {
    let parts = [
        "{",
        "[",
        "(",
        "<",
        "\"",
        "'",
        "`",
        "$",
        "$a$",
        "${",
        "\"${",
        "<<A\n",
        "/*",
        "--",
        "#[[",
        "[=[",
        "\"\"\"",
        "a.",
        "a ",
        "BEGIN ",
        "CREATE ",
        "CREATE FUNCTION f AS x ",
        "FROM a, ",
        "WITH a AS (",
        "message A {",
        "rpc A(",
        "type A {",
        "resource a b {",
        "function(",
        "metadata:\n  name: x\n",
        "---\n",
        "é",
        "\\é",
        "a: b \\\n",
        "@a(",
    ];
    for (format, reader) in READERS {
        for part in parts {
            let text = part.repeat(10_000 / part.len());
            let start = Instant::now();
            let names = reader("a", &text);
            assert!(start.elapsed() < Duration::from_secs(2), "{format} {part:?}: {:?}", start.elapsed());
            drop(names);
        }
    }
}
