use std::collections::BTreeMap;

use memod_base::types::Phrase;
use memod_testing::RandomNumbers;

use super::*;
use crate::filter::compile_globs;

fn content(first: ChunkId) -> Result<IndexedContent, String> {
    let chunk = |nth, kind| ChunkSummary { id: ChunkId(first.0 + nth), kind, n_words: 3 };
    let lang = if first.0 < 100 { "rust" } else { "" };
    let chunks = vec![chunk(0, ChunkKind::Map), chunk(1, ChunkKind::Symbol)];
    Ok(IndexedContent { hash: [0; 32], lang: lang.to_owned(), class: None, chunks })
}

fn listed(list: &[(&str, i64)]) -> Vec<(Box<str>, ChunkId)> {
    list.iter().map(|(path, id)| ((*path).into(), ChunkId(*id))).collect()
}

fn ids(members: &AdmittedChunks<'_>) -> Vec<i64> {
    members
        .worktree
        .chunks()
        .iter()
        .filter(|chunk| members.admits_chunk(chunk))
        .map(|c| c.chunk.id.0)
        .collect()
}

#[test]
fn only_new_contents_are_read_and_copies_are_one() {
    let mut worktree = WorktreeChunks::default();
    let mut n_read = 0;
    let mut update = |worktree: &mut WorktreeChunks, list: &[(&str, i64)]| {
        let read = |id| {
            n_read += 1;
            content(id)
        };
        worktree.replace_paths(listed(list), read).unwrap();
        n_read
    };
    assert_eq!(update(&mut worktree, &[("a.rs", 10), ("b/a.rs", 10), ("c.txt", 100)]), 2);
    assert_eq!(update(&mut worktree, &[("a.rs", 20), ("b/a.rs", 10), ("c.txt", 100)]), 3);
    assert_eq!(update(&mut worktree, &[("c.txt", 100)]), 3);
    assert_eq!(worktree.n_contents(), 1);
    assert_eq!(worktree.get(ChunkId(10)), None);
    assert_eq!(worktree.get(ChunkId(101)).map(|chunk| chunk.chunk.kind), Some(ChunkKind::Symbol));
    assert_eq!(worktree.replace_paths(listed(&[("d", 9)]), |_| Err("no")), Err("no"));
    assert_eq!(worktree.n_contents(), 1, "what failed changes nothing");
}

#[test]
fn classes_follow_the_other_paths() {
    let mut worktree = WorktreeChunks::default();
    let mut check = |paths: &[&str], path: &str, expected: &[FileClass]| {
        let list: Vec<_> = paths.iter().zip(100..).map(|(path, id)| (*path, id)).collect();
        worktree
            .replace_paths(listed(&list), |first| {
                Ok::<_, String>(IndexedContent { lang: "markdown".to_owned(), ..content(first)? })
            })
            .unwrap();
        assert_eq!(worktree.path_classes(path), ClassSet::from_classes(expected), "{paths:?}");
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
    let mut worktree = WorktreeChunks::default();
    worktree.replace_paths(listed(&[("a.rs", 10), ("b/a.rs", 10), ("c.txt", 100)]), content).unwrap();
    let filter = |kinds: &[ChunkKind], langs: &[&str], globs: &[&str]| {
        let owned = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
        let paths = if globs.is_empty() { Vec::new() } else { vec![compile_globs(&owned(globs)).unwrap()] };
        SearchFilter { kinds: kinds.to_vec(), langs: owned(langs), paths, ..SearchFilter::default() }
    };
    let check =
        |filter: SearchFilter, expected: &[i64]| assert_eq!(ids(&worktree.admitted_by(&filter)), expected);
    check(SearchFilter::default(), &[10, 11, 100, 101]);
    check(filter(&[ChunkKind::Symbol], &[], &[]), &[11, 101]);
    check(filter(&[], &["rust"], &[]), &[10, 11]);
    check(filter(&[], &[], &["b/**"]), &[10, 11]);
    check(filter(&[], &["rust"], &["*.txt"]), &[]);
    let only = |classes: &[FileClass]| SearchFilter {
        required_classes: vec![ClassSet::from_classes(classes)],
        ..SearchFilter::default()
    };
    check(only(&[FileClass::Code]), &[10, 11]);
    check(only(&[FileClass::Lock]), &[]);
    check(
        SearchFilter {
            excluded_classes: ClassSet::from_classes(&[FileClass::Code]),
            ..SearchFilter::default()
        },
        &[100, 101],
    );
    let within_b = filter(&[ChunkKind::Symbol], &[], &["b/**"]);
    let members = worktree.admitted_by(&within_b);
    assert_eq!(members.paths_of(0).collect::<Vec<_>>(), ["b/a.rs"]);
    let a = Phrase { tokens: "a".to_owned(), is_prefix: false };
    let found: Vec<i64> =
        members.matching_paths([&a].into_iter()).map(|(_, chunk)| chunk.chunk.id.0).collect();
    assert_eq!(found, [11], "only b/a.rs is admitted");
    assert!(members.ids_of_kinds(|kind| kind == ChunkKind::Symbol).contains(ChunkId(11)));
}

#[test]
fn what_a_filter_admits_is_kept_until_the_view_changes() {
    let mut worktree = WorktreeChunks::default();
    worktree.replace_paths(listed(&[("a.rs", 10), ("b/c.txt", 100)]), content).unwrap();
    let of = |globs: &str| {
        let paths = vec![compile_globs(&[globs.to_owned()]).unwrap()];
        SearchFilter { paths, ..SearchFilter::default() }
    };
    let globs = ["b/**", "*.rs", "a.rs", "**", "*.md", "b/**"];
    let expected: [&[i64]; 6] = [&[100, 101], &[10, 11], &[10, 11], &[10, 11, 100, 101], &[], &[100, 101]];
    for _ in 0..2 {
        for (globs, expected) in globs.iter().zip(expected) {
            assert_eq!(ids(&worktree.admitted_by(&of(globs))), expected, "{globs}");
        }
    }
    let copy = worktree.clone();
    worktree.patch(vec![("b/a.rs".into(), Some(ChunkId(10))), ("a.rs".into(), None)], content).unwrap();
    assert_eq!(ids(&worktree.admitted_by(&of("b/**"))), [10, 11, 100, 101]);
    assert_eq!(ids(&copy.admitted_by(&of("b/**"))), [100, 101]);
    worktree.replace_paths(listed(&[("a.rs", 10)]), content).unwrap();
    assert_eq!(ids(&worktree.admitted_by(&of("b/**"))), [0_i64; 0]);
}

/// The visible content of a worktree: chunks with the paths of their contents, words, and the paths that have a word.
fn seen(worktree: &WorktreeChunks) -> impl PartialEq + std::fmt::Debug {
    let filter = SearchFilter::default();
    let members = worktree.admitted_by(&filter);
    let chunk = |chunk: &WorktreeChunk| {
        let paths: Vec<String> = members.paths_of(chunk.content).map(str::to_owned).collect();
        let classes: Vec<ClassSet> = paths.iter().map(|path| worktree.path_classes(path)).collect();
        (
            chunk.chunk,
            paths,
            classes,
            worktree.content_at(chunk.content).chunks.clone(),
            worktree.position_of(chunk.chunk.id),
        )
    };
    let chunks: Vec<_> = worktree.chunks().iter().map(chunk).collect();
    let phrases = ["a", "b", "rs", "uk"].map(|word| Phrase { tokens: word.to_owned(), is_prefix: false });
    let found: Vec<(f64, ChunkId)> =
        members.matching_paths(phrases.iter()).map(|(bm25, chunk)| (bm25, chunk.chunk.id)).collect();
    let of_files: Vec<ChunkId> = members.file_chunks().map(|chunk| chunk.chunk.id).collect();
    (chunks, found, of_files, worktree.n_words(), worktree.n_contents())
}

#[test]
fn a_patched_view_is_as_one_made_anew() {
    let mut random = RandomNumbers::new(41);
    let paths = ["a.rs", "b/a.rs", "c.txt", "docs/en/a.md", "docs/uk/a.md", "tests/b.rs", "uk", "z/b"];
    let mut files: BTreeMap<&str, i64> = BTreeMap::new();
    let mut worktree = WorktreeChunks::default();
    let list = |files: &BTreeMap<&str, i64>| {
        listed(&files.iter().map(|(path, id)| (*path, *id)).collect::<Vec<_>>())
    };
    for _ in 0..600 {
        let mut changed: BTreeMap<&str, Option<i64>> = BTreeMap::new();
        for _ in 0..random.number_below(4) {
            let path = random.pick_item(&paths);
            let id = (random.number_below(4) > 0).then(|| 10 * (1 + random.number_below(12) as i64));
            changed.insert(path, id);
            match id {
                Some(id) => files.insert(path, id),
                None => files.remove(path),
            };
        }
        let changed = changed.into_iter().map(|(path, id)| (path.into(), id.map(ChunkId)));
        worktree.patch(changed.collect(), content).unwrap();
        let mut anew = WorktreeChunks::default();
        anew.replace_paths(list(&files), content).unwrap();
        assert_eq!(seen(&worktree), seen(&anew), "{files:?}");
    }
    let before = files.clone();
    assert_eq!(worktree.patch(vec![("new".into(), Some(ChunkId(9_000)))], |_| Err("no")), Err("no"));
    let mut anew = WorktreeChunks::default();
    anew.replace_paths(list(&before), content).unwrap();
    assert_eq!(seen(&worktree), seen(&anew), "what failed changes nothing");
}
