//! Does a cross-encoder reorder the first hits, and does the answer stay where it cannot?
//!
//! The one of these tests counts words that query and text have in common, less an eighth of the words of the text
//! (`tests/it/models/tiny_reranker.py`).

use std::collections::BTreeSet;
use std::time::Duration;

use memod_embed::onnx::{ModelCache, ModelImport, Reranker, RuntimeLocations, import_model};

use super::*;

const QUERY: &str = "refresh the expired session";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/models/tiny-reranker")
}

/// Computes what the model does.
fn score(query: &str, text: &str) -> f64 {
    let vocabulary = fs::read_to_string(folder().join("tokenizer.json")).unwrap();
    let vocabulary: Value = serde_json::from_str(&vocabulary).unwrap();
    let words = |text: &str| -> BTreeSet<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
        words.filter(|word| vocabulary["model"]["vocab"][word].is_number()).collect()
    };
    let (query, text) = (words(query), words(text));
    let logit = query.intersection(&text).count() as f64 - text.len() as f64 / 8.0;
    1.0 / (1.0 + (-logit).exp())
}

/// What a search with `--rerank` says.
struct Reranked {
    /// Paths with the score of the cross-encoder.
    hits: Vec<(String, Option<f64>)>,
    scores: Vec<f64>,
    /// What was said of the cross-encoder.
    said: Vec<String>,
}

fn reranked(live: &Live, limit: &str) -> Reranked {
    let (exit, found) = memo(live, &["search", QUERY, "--rerank", "--kind", "doc", "-n", limit]);
    assert_eq!(exit, 0, "{found}");
    let hits = found["hits"].as_array().unwrap();
    let hit = |hit: &Value| (hit["path"].as_str().unwrap().to_owned(), hit["arms"]["rerank"].as_f64());
    let said = found["degraded"].as_array().unwrap().iter().map(|why| why.as_str().unwrap().to_owned());
    Reranked {
        hits: hits.iter().map(hit).collect(),
        scores: hits.iter().map(|hit| hit["score"].as_f64().unwrap()).collect(),
        said: said.filter(|why| why.starts_with("rerank: ")).collect(),
    }
}

#[test]
fn a_cross_encoder_says_what_it_must_or_why_not() {
    let Some(library) = library() else { return };
    let temp = tempfile::tempdir().unwrap();
    let runtime = RuntimeLocations { from_variable: Some(library.into()), ..RuntimeLocations::default() };
    let program = Path::new(env!("CARGO_BIN_EXE_memod"));
    let wanted = ModelImport { dir: &folder(), name: Some("own"), source: None };
    let installed = import_model(&wanted, &ModelCache::new(temp.path()), &runtime, program).unwrap();
    assert!(installed.manifest.identity().ends_with("/rerank"));
    let reranker = Reranker::new(&installed, &runtime, program).unwrap();
    let texts = ["the session of the chart", "login", "", "a session that expired: refresh it, refresh it"];
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    let scores = reranker.score_texts(QUERY, &texts, PATIENCE).unwrap();
    for (text, found) in texts.iter().zip(&scores) {
        assert!((score(QUERY, text) - f64::from(*found)).abs() < 1e-6, "{text}: {found}");
    }
    let many = vec!["login the session".repeat(100); 100_000];
    let late = reranker.score_texts(QUERY, &many, Duration::from_millis(100)).unwrap_err();
    assert!(late.contains(" of 100000 hits within 0.1 s"), "{late}");
    assert_eq!(
        reranker.score_texts(QUERY, &texts, PATIENCE).unwrap(),
        scores,
        "the next question is answered"
    );
}

#[test]
fn search_reranks_its_first_hits_and_says_when_it_cannot() {
    let Some(live) = start() else { return };
    live.write(
        "long.md",
        "# Session\n\nrefresh refresh refresh session session, the chart of the orders in day\n",
    );
    live.write("half.md", "# Expired\n\nthe expired session of the chart\n");
    live.call("sync", json!({ "sync": "full", "wait_ms": PATIENCE.as_millis() }));
    let Reranked { hits: plain, scores, said } = reranked(&live, "3");
    assert!(plain.iter().all(|(_, score)| score.is_none()), "{plain:?}");
    assert!(said.len() == 1 && said[0].contains("memo model use ms-marco-l6"), "{said:?}");
    let (exit, imported) = import(&live, &folder(), "own");
    assert_eq!(exit, 0, "{imported}");
    let (exit, used) = memo(&live, &["model", "use", "own"]);
    assert_eq!(
        (exit, used["active"].as_str()),
        (0, imported["active"].as_str()),
        "vectors are not its matter"
    );
    assert!(used["reranker"].as_str().unwrap().starts_with("own@"), "{used}");

    let Reranked { hits: found, scores: all_scores, said } = reranked(&live, "20");
    assert!(said.is_empty() && found.len() > 2, "{said:?} {found:?}");
    // The path is read with the text.
    let text = |path: &str| format!("{path} {}", fs::read_to_string(live.root().join(path)).unwrap());
    for (path, score) in &found {
        assert!((self::score(QUERY, &text(path)) - score.unwrap()).abs() < 1e-6, "{path}: {score:?}");
    }
    assert!(found.is_sorted_by(|left, right| left.1 >= right.1), "{found:?}");
    assert!(all_scores.is_sorted_by(|left, right| left >= right), "{all_scores:?}");
    assert_eq!(all_scores[..3], scores, "the scores are those of the answer");
    assert_eq!(reranked(&live, "2").hits, found[..2], "whatever the limit");
    let explained = live.memo(&["explain", QUERY, "--rerank", "--hit", "1"]).output().unwrap();
    let explained = String::from_utf8(explained.stdout).unwrap();
    assert!(explained.contains("rerank") && explained.contains("place 1, "), "{explained}");
    let memories =
        live.call("search", json!({ "query": "expired login", "kind": ["memory"], "rerank": true }));
    assert!(memories["hits"][0]["arms"]["rerank"].is_number(), "{memories}");

    live.kill();
    let file = Path::new(imported["dir"].as_str().unwrap()).join("own/model.onnx");
    fs::write(&file, b"not any more").unwrap();
    start_daemon(&live, &std::env::var_os("ORT_DYLIB_PATH").unwrap());
    let Reranked { hits: found, said, .. } = reranked(&live, "3");
    assert_eq!(found, plain, "the answer is the usual one");
    assert!(said.len() == 1 && said[0].contains("model.onnx"), "{said:?}");
}
