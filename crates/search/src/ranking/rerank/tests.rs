use std::collections::BTreeSet;

use memod_base::types::RankingPart;
use memod_testing::RandomNumbers;

use super::*;
use crate::candidates::arm_signals::{ArmSignals, TextRank};
use crate::query::parse_query;
use crate::ranking::rare_word::{MOST_WITH_RARE_WORD, WORDLESS};

fn path_of(name: &str) -> &str {
    name.split(['#', '@']).next().unwrap_or(name)
}

/// `path#symbol`, `path` (text), `path@map`, `commit:oid`; BM25 ranks as listed.
fn candidates(names: &[&str]) -> Vec<ChunkCandidate> {
    let candidate = |(nth, name): (usize, &&str)| {
        let rank = nth as u32 + 1;
        let (path, symbol) =
            name.split_once('#').map_or((*name, None), |(path, symbol)| (path, Some(symbol)));
        let (path, is_map) = path.strip_suffix("@map").map_or((path, false), |path| (path, true));
        ChunkCandidate {
            key: ChunkId(i64::from(rank)),
            definition: ChunkId(i64::from(rank)),
            path: path.to_owned(),
            classes: class_rules::classes_by_path(path),
            kind: if is_map {
                ChunkKind::Map
            } else if symbol.is_some() {
                ChunkKind::Symbol
            } else if path.starts_with("commit:") {
                ChunkKind::Commit
            } else {
                ChunkKind::Text
            },
            symbol: symbol.map(|symbol| symbol.rsplit("::").next().unwrap_or(symbol).into()),
            title: symbol.map(Into::into),
            lines: (rank, rank + 1),
            content: names.iter().position(|other| path_of(other) == path_of(name)).unwrap_or(0) as u32,
            bytes: (0, 1),
            signals: ArmSignals {
                bm25: Some(TextRank { rank, bm25: 10.0 - f64::from(rank) / 2.0 }),
                ..ArmSignals::default()
            },
        }
    };
    names.iter().enumerate().map(candidate).collect()
}

fn check(query: &str, names: &[&str], expected: &[i64]) {
    let ranked =
        rank_chunks(&parse_query(query), ClassSet::default(), RankingParts::default(), candidates(names));
    let keys: Vec<i64> = ranked.iter().map(|hit| hit.candidate.key.0).collect();
    assert_eq!(keys, expected, "{query}");
}

#[test]
fn order_by_factors() {
    check("anything else", &["a.rs", "b.rs", "c.rs"], &[1, 2, 3]);
    check("parse_query", &["a.rs#run", "b.rs#parse_query"], &[2, 1]);
    check("parseQuery", &["a.rs#parse_query", "b.rs#parseQuery"], &[2, 1]);
    check("pool", &["pool/pool.rs#Pool", "a.rs", "b.rs", "c.rs#pool"], &[4, 1, 2, 3]);
    check("parse the query", &["a.rs#run", "b.rs#parse_query"], &[2, 1]);
    check("Session::login", &["a.rs#User::login", "b.rs#Session::login"], &[2, 1]);
    check("session expiry", &["a.rs", "web/session.rs"], &[2, 1]);
    check("sessions expire", &["a.rs", "session/x.rs"], &[2, 1]);
    check("login", &["tests/a.rs", "b.rs"], &[2, 1]);
    check("login tests", &["tests/a.rs", "b.rs"], &[1, 2]);
    check("anything", &["a.rs#tests::login", "b.rs#login"], &[2, 1]);
    check("tests of anything", &["a.rs#tests::login", "b.rs#login"], &[1, 2]);
    check("anything", &["a.go#tests::login", "b.rs#tests"], &[1, 2]);
    check("anything", &["a.rs", "a.rs", "b.rs"], &[1, 3, 2]);
    check("anything", &["a.rs", "b.rs", "b.rs", "b.rs"], &[2, 1, 3, 4]);
    check("anything", &["a.rs@map", "a.rs#run"], &[2, 1]);
    check("parser", &["commit:ab", "a.rs", "b.rs"], &[2, 3, 1]);
    check("why the parser", &["commit:ab", "a.rs", "b.rs"], &[1, 2, 3]);
}

#[test]
fn of_the_pieces_of_a_definition_the_best_is_kept() {
    let mut pieces = candidates(&["a.rs#run", "b.rs#stop", "a.rs#run", "a.rs#walk"]);
    pieces[2].definition = pieces[0].key;
    let ranked = rank_chunks(&parse_query("anything"), ClassSet::default(), RankingParts::default(), pieces);
    let keys: Vec<i64> = ranked.iter().map(|hit| hit.candidate.key.0).collect();
    assert_eq!(keys, [1, 2, 4]);
}

#[test]
fn what_has_a_rare_word_stands_before_what_is_only_similar() {
    let found = |n_with: usize| {
        let paths: Vec<String> = (0..n_with + 3).map(|nth| format!("{nth:02}.rs")).collect();
        let mut found = candidates(&paths.iter().map(String::as_str).collect::<Vec<_>>());
        for (nth, candidate) in found.iter_mut().enumerate() {
            let word = TextRank { rank: 1, bm25: if nth == 0 { 9.0 } else { 0.1 } };
            candidate.signals = match nth < n_with {
                true => ArmSignals { bm25: Some(word), ..ArmSignals::default() },
                false => ArmSignals { cosine: Some(0.9 - nth as f32 / 100.0), ..ArmSignals::default() },
            };
        }
        let ranked = rank_chunks(&parse_query("rarity"), ClassSet::default(), RankingParts::default(), found);
        ranked.into_iter().map(|hit| hit.candidate.path).collect::<Vec<_>>()
    };
    assert_eq!(found(2), ["00.rs", "01.rs", "02.rs", "03.rs", "04.rs"]);
    let many = found(MOST_WITH_RARE_WORD + 1);
    assert!(many[1].as_str() > "10.rs", "many have a word that is not rare: {many:?}");
}

#[test]
fn each_factor_is_named() {
    let ranked = rank_chunks(
        &parse_query("login"),
        ClassSet::default(),
        RankingParts::default(),
        candidates(&["tests/login.rs#login", "tests/login.rs"]),
    );
    let names: Vec<Vec<_>> = ranked.iter().map(|hit| hit.factors.iter().map(|f| f.0).collect()).collect();
    assert_eq!(names, [vec!["definition", "stem", "test", "matches"], vec!["stem", "test", "further"]]);
}

#[test]
fn each_arm_factor_and_class_can_be_left_out() {
    let factors = [DEFINITION, STEM, FOLDER, MATCHES, MAP, TEXT, COMMIT, FURTHER].map(|factor| factor.name);
    let every = FileClass::ALL.into_iter().collect();
    let classes =
        class_rules::lowering_factors(every, ClassSet::default()).filter(|(_, factor)| *factor != 1.0);
    let names: BTreeSet<&str> = fuse::SIGNAL_NAMES
        .into_iter()
        .chain(factors)
        .chain([WORDLESS])
        .chain(classes.map(|(name, _)| name))
        .collect();
    for name in &names {
        assert_eq!(RankingPart::parse(name).map(RankingPart::as_str), Ok(*name));
    }
    assert_eq!(names, RankingPart::all().map(RankingPart::as_str).collect());
    let keys = |part: &str| -> Vec<i64> {
        let without = RankingPart::parse(part).into_iter().collect();
        let found = candidates(&["tests/a.rs", "web/login.rs", "b.rs"]);
        let ranked = rank_chunks(&parse_query("login"), ClassSet::default(), without, found);
        assert!(ranked.iter().flat_map(|hit| &hit.factors).all(|factor| factor.0 != part), "{part}");
        ranked.iter().map(|hit| hit.candidate.key.0).collect()
    };
    assert_eq!((keys("map"), keys("stem"), keys("test")), (vec![2, 3, 1], vec![2, 3, 1], vec![2, 1, 3]));
}

#[test]
fn the_order_is_total_and_of_the_scores_whatever_the_input_order() {
    let paths = ["a.rs", "tests/a.rs", "b/c.rs#login", "b/c.rs@map", "login.d.ts#Login", "日本/x", ""];
    let mut random = RandomNumbers::new(3);
    for _ in 0..200 {
        let n_names = random.number_below(40);
        let names: Vec<&str> = (0..n_names).map(|_| random.pick_item(&paths)).collect();
        let mut input = candidates(&names);
        let query = parse_query("login of 日本");
        let first = rank_chunks(&query, ClassSet::default(), RankingParts::default(), input.clone());
        input.reverse();
        assert_eq!(rank_chunks(&query, ClassSet::default(), RankingParts::default(), input), first);
        assert!(first.is_sorted_by(|left, right| left.score >= right.score));
        assert!(first.iter().all(|hit| (0.0..=1.0).contains(&hit.score)));
    }
}
