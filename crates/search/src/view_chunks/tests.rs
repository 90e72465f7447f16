use std::collections::BTreeMap;

use memod_base::types::Phrase;
use memod_testing::Random;

use super::*;
use crate::filter::glob_set;

fn content(first: ChunkId) -> Result<Content, String> {
    let chunk = |nth, kind| ContentChunk { id: ChunkId(first.0 + nth), kind, n_words: 3 };
    let lang = if first.0 < 100 { "rust" } else { "" };
    let chunks = vec![chunk(0, Kind::Map), chunk(1, Kind::Symbol)];
    Ok(Content { hash: [0; 32], lang: lang.to_owned(), class: None, chunks })
}

fn listed(list: &[(&str, i64)]) -> Vec<(Box<str>, ChunkId)> {
    list.iter().map(|(path, id)| ((*path).into(), ChunkId(*id))).collect()
}

fn ids(members: &Members<'_>) -> Vec<i64> {
    members.view.chunks().iter().filter(|chunk| members.admit(chunk)).map(|c| c.chunk.id.0).collect()
}

#[test]
fn only_new_contents_are_read_and_copies_are_one() {
    let mut view = ViewChunks::default();
    let mut n_read = 0;
    let mut update = |view: &mut ViewChunks, list: &[(&str, i64)]| {
        let read = |id| {
            n_read += 1;
            content(id)
        };
        view.update(listed(list), read).unwrap();
        n_read
    };
    assert_eq!(update(&mut view, &[("a.rs", 10), ("b/a.rs", 10), ("c.txt", 100)]), 2);
    assert_eq!(update(&mut view, &[("a.rs", 20), ("b/a.rs", 10), ("c.txt", 100)]), 3);
    assert_eq!(update(&mut view, &[("c.txt", 100)]), 3);
    assert_eq!(view.n_contents(), 1);
    assert_eq!(view.get(ChunkId(10)), None);
    assert_eq!(view.get(ChunkId(101)).map(|chunk| chunk.chunk.kind), Some(Kind::Symbol));
    assert_eq!(view.update(listed(&[("d", 9)]), |_| Err("no")), Err("no"));
    assert_eq!(view.n_contents(), 1, "what failed changes nothing");
}

#[test]
fn classes_follow_the_other_paths() {
    let mut view = ViewChunks::default();
    let mut check = |paths: &[&str], path: &str, expected: &[FileClass]| {
        let list: Vec<_> = paths.iter().zip(100..).map(|(path, id)| (*path, id)).collect();
        view.update(listed(&list), |first| {
            Ok::<_, String>(Content { lang: "markdown".to_owned(), ..content(first)? })
        })
        .unwrap();
        assert_eq!(view.classes(path), ClassSet::of(expected), "{paths:?}");
    };
    check(&["docs/uk/a.md"], "docs/uk/a.md", &[FileClass::Docs]);
    check(&["docs/en/a.md", "docs/uk/a.md"], "docs/uk/a.md", &[FileClass::Docs, FileClass::Translation]);
    check(&["docs/en/a.md", "docs/uk/a.md"], "docs/en/a.md", &[FileClass::Docs]);
    check(&["docs/uk/a.md", "tests/a.md"], "docs/uk/a.md", &[FileClass::Docs]);
    check(&["docs/uk/a.md", "tests/a.md"], "tests/a.md", &[FileClass::Docs, FileClass::Test]);
    check(&[], "tests/a.md", &[]);
}

#[test]
fn a_filter_admits_by_kind_format_and_path() {
    let mut view = ViewChunks::default();
    view.update(listed(&[("a.rs", 10), ("b/a.rs", 10), ("c.txt", 100)]), content).unwrap();
    let filter = |kinds: &[Kind], langs: &[&str], globs: &[&str]| {
        let owned = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
        let paths = if globs.is_empty() { Vec::new() } else { vec![glob_set(&owned(globs)).unwrap()] };
        Filter { kinds: kinds.to_vec(), langs: owned(langs), paths, ..Filter::default() }
    };
    let check = |filter: Filter, expected: &[i64]| assert_eq!(ids(&view.within(&filter)), expected);
    check(Filter::default(), &[10, 11, 100, 101]);
    check(filter(&[Kind::Symbol], &[], &[]), &[11, 101]);
    check(filter(&[], &["rust"], &[]), &[10, 11]);
    check(filter(&[], &[], &["b/**"]), &[10, 11]);
    check(filter(&[], &["rust"], &["*.txt"]), &[]);
    let only = |classes: &[FileClass]| Filter { only: vec![ClassSet::of(classes)], ..Filter::default() };
    check(only(&[FileClass::Code]), &[10, 11]);
    check(only(&[FileClass::Lock]), &[]);
    check(Filter { not_only: ClassSet::of(&[FileClass::Code]), ..Filter::default() }, &[100, 101]);
    let within_b = filter(&[Kind::Symbol], &[], &["b/**"]);
    let members = view.within(&within_b);
    assert_eq!(members.paths(0).collect::<Vec<_>>(), ["b/a.rs"]);
    let a = Phrase { tokens: "a".to_owned(), is_prefix: false };
    let found: Vec<i64> = members.paths_with([&a].into_iter()).map(|(_, chunk)| chunk.chunk.id.0).collect();
    assert_eq!(found, [11], "only b/a.rs is admitted");
    assert!(members.ids(|kind| kind == Kind::Symbol).contains(ChunkId(11)));
}

#[test]
fn what_a_filter_admits_is_kept_until_the_view_changes() {
    let mut view = ViewChunks::default();
    view.update(listed(&[("a.rs", 10), ("b/c.txt", 100)]), content).unwrap();
    let of = |globs: &str| {
        let paths = vec![glob_set(&[globs.to_owned()]).unwrap()];
        Filter { paths, ..Filter::default() }
    };
    let globs = ["b/**", "*.rs", "a.rs", "**", "*.md", "b/**"];
    let expected: [&[i64]; 6] = [&[100, 101], &[10, 11], &[10, 11], &[10, 11, 100, 101], &[], &[100, 101]];
    for _ in 0..2 {
        for (globs, expected) in globs.iter().zip(expected) {
            assert_eq!(ids(&view.within(&of(globs))), expected, "{globs}");
        }
    }
    let copy = view.clone();
    view.patch(vec![("b/a.rs".into(), Some(ChunkId(10))), ("a.rs".into(), None)], content).unwrap();
    assert_eq!(ids(&view.within(&of("b/**"))), [10, 11, 100, 101]);
    assert_eq!(ids(&copy.within(&of("b/**"))), [100, 101]);
    view.update(listed(&[("a.rs", 10)]), content).unwrap();
    assert_eq!(ids(&view.within(&of("b/**"))), [0_i64; 0]);
}

/// What can be seen of a view: chunks with the paths of their contents, words, and the paths that have a word.
fn seen(view: &ViewChunks) -> impl PartialEq + std::fmt::Debug {
    let filter = Filter::default();
    let members = view.within(&filter);
    let chunk = |chunk: &ViewChunk| {
        let paths: Vec<String> = members.paths(chunk.content).map(str::to_owned).collect();
        let classes: Vec<ClassSet> = paths.iter().map(|path| view.classes(path)).collect();
        (
            chunk.chunk,
            paths,
            classes,
            view.content(chunk.content).chunks.clone(),
            view.place_of(chunk.chunk.id),
        )
    };
    let chunks: Vec<_> = view.chunks().iter().map(chunk).collect();
    let phrases = ["a", "b", "rs", "uk"].map(|word| Phrase { tokens: word.to_owned(), is_prefix: false });
    let found: Vec<(f64, ChunkId)> =
        members.paths_with(phrases.iter()).map(|(bm25, chunk)| (bm25, chunk.chunk.id)).collect();
    let of_files: Vec<ChunkId> = members.of_files().map(|chunk| chunk.chunk.id).collect();
    (chunks, found, of_files, view.n_words(), view.n_contents())
}

#[test]
fn a_patched_view_is_as_one_made_anew() {
    let mut random = Random::new(41);
    let paths = ["a.rs", "b/a.rs", "c.txt", "docs/en/a.md", "docs/uk/a.md", "tests/b.rs", "uk", "z/b"];
    let mut files: BTreeMap<&str, i64> = BTreeMap::new();
    let mut view = ViewChunks::default();
    let list = |files: &BTreeMap<&str, i64>| {
        listed(&files.iter().map(|(path, id)| (*path, *id)).collect::<Vec<_>>())
    };
    for _ in 0..600 {
        let mut changed: BTreeMap<&str, Option<i64>> = BTreeMap::new();
        for _ in 0..random.below(4) {
            let path = random.pick(&paths);
            let id = (random.below(4) > 0).then(|| 10 * (1 + random.below(12) as i64));
            changed.insert(path, id);
            match id {
                Some(id) => files.insert(path, id),
                None => files.remove(path),
            };
        }
        let changed = changed.into_iter().map(|(path, id)| (path.into(), id.map(ChunkId)));
        view.patch(changed.collect(), content).unwrap();
        let mut anew = ViewChunks::default();
        anew.update(list(&files), content).unwrap();
        assert_eq!(seen(&view), seen(&anew), "{files:?}");
    }
    let before = files.clone();
    assert_eq!(view.patch(vec![("new".into(), Some(ChunkId(9_000)))], |_| Err("no")), Err("no"));
    let mut anew = ViewChunks::default();
    anew.update(list(&before), content).unwrap();
    assert_eq!(seen(&view), seen(&anew), "what failed changes nothing");
}
