//! Compares our figures with those of the scorers that come with the quality sets, on hits drawn at random.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use memod_base::types::ChunkKind;
use memod_testing::RandomNumbers;
use serde_json::{Value, json};

use crate::bootstrap_means::estimate_means;
use crate::labelled_question::{HitSpan, LabelledQuestion, QuestionCorpus};
use crate::question_sets::{QuestionSet, read_sets};
use crate::rank_scores::{RANK_METRICS, RankScores, score_ranks};
use crate::run_files::format_rows;

/// Returns the folder of sets and scorers; `None` where this machine has none.
fn eval_folder() -> Option<PathBuf> {
    let eval = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/eval");
    if eval.join("score.py").is_file() {
        return Some(eval);
    }
    // Not with `eprintln!`, which a passing test hides.
    let why =
        "NOT CHECKED: whether `memod bench quality` scores as the sets' own scorers do: no ../shared/eval";
    writeln!(std::io::stderr(), "{why}").expect("stderr is open");
    None
}

/// Returns paths of the tree of a set, sorted.
fn paths_of_set(set: &QuestionSet) -> Vec<String> {
    let mut paths: Vec<String> = match &set.corpus {
        QuestionCorpus::Hits | QuestionCorpus::Files(None) => set
            .questions
            .iter()
            .flat_map(|question| &question.relevant)
            .map(|label| label.path.clone())
            .collect(),
        QuestionCorpus::Files(Some(paths)) => paths.iter().cloned().collect(),
        QuestionCorpus::Sections(pages) => pages.keys().cloned().collect(),
        QuestionCorpus::Texts { files, .. } => {
            files.values().filter_map(|id| set.corpus.text_path(id)).collect()
        }
    };
    paths.sort();
    paths
}

/// Returns hits of a question: its answers, other records, repeats, and hits that are no records.
fn random_hits(
    set: &QuestionSet,
    paths: &[&String],
    question: &LabelledQuestion,
    random: &mut RandomNumbers,
) -> Vec<HitSpan> {
    let n_hits = random.number_below(40);
    let hit = |_| {
        let label = random.pick_item(&question.relevant.iter().collect::<Vec<_>>());
        let is_relevant = random.number_below(8) == 0;
        let (mut path, first) = (random.pick_item(paths).clone(), random.number_below(400) as u32 + 1);
        let mut lines = (first, first + random.number_below(30) as u32);
        if let (true, QuestionCorpus::Sections(pages)) = (is_relevant, &set.corpus) {
            let mut sections =
                pages.iter().flat_map(|(path, sections)| sections.iter().map(move |section| (path, section)));
            let found = sections.find(|(_, (_, id))| *id == label.id).expect("each answer is a section");
            (path, lines) = (found.0.clone(), (found.1.0, found.1.0 + 3));
        } else if let (true, Some(text)) = (is_relevant, set.corpus.text_path(&label.id)) {
            path = paths.iter().find(|path| ***path == text).expect("each answer is a text").to_string();
        } else if is_relevant {
            path = label.path.clone();
        } else if random.number_below(10) == 0 {
            path = "commit:0123456789".to_owned();
        }
        let kind = if path.starts_with("commit:") { ChunkKind::Commit } else { ChunkKind::Symbol };
        HitSpan { path, lines, score: 0.5, kind }
    };
    (0..n_hits).map(hit).collect()
}

/// Answers the questions of each set at random; returns the scores by set, and the rows that each would write.
fn random_answers(suite: &Path) -> BTreeMap<String, (Vec<RankScores>, String)> {
    let mut random = RandomNumbers::new(11);
    let sets = read_sets(suite).expect("the sets can be read");
    let answer = |set: QuestionSet| {
        let paths = paths_of_set(&set);
        let paths: Vec<&String> = paths.iter().collect();
        let found: Vec<Vec<HitSpan>> =
            set.questions.iter().map(|question| random_hits(&set, &paths, question, &mut random)).collect();
        let score = |(question, hits): (&LabelledQuestion, &Vec<HitSpan>)| {
            score_ranks(&question.rank_records(&set.corpus, hits))
        };
        let scores = set.questions.iter().zip(&found).map(score).collect();
        let rows = format_rows(&set, &found);
        (set.name, (scores, rows))
    };
    sets.into_iter().map(answer).collect()
}

fn run_python(args: &[&Path], words: &[&str]) -> String {
    let done = Command::new("python3").args(["-B"]).args(args).args(words).output().expect("python3 runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("it prints UTF-8")
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).expect("the scorer writes JSON")
}

#[test]
fn sets_of_files_sections_and_texts_score_as_with_their_scorer() {
    let Some(eval) = eval_folder() else { return };
    for suite in ["code", "docs", "conv"] {
        let dir = tempfile::tempdir().expect("there is a place for files");
        let (folder, out) = (eval.join("dev").join(suite), dir.path().join("scores.json"));
        let answers = random_answers(&folder);
        for (name, (_, rows)) in &answers {
            fs::write(dir.path().join(format!("{name}.run")), rows).expect("a run can be written");
        }
        let args = [&eval.join("score.py"), Path::new("--suite"), &folder, Path::new("--runs"), dir.path()];
        run_python(&args, &["--boot", "40", "--json", &out.display().to_string()]);
        let theirs = json_of(&fs::read_to_string(&out).expect("it was written"));
        let theirs = &theirs[dir.path().display().to_string()];
        assert!(answers.len() > 2, "{suite} has {} sets", answers.len());
        let sets: Vec<Vec<RankScores>> = answers.values().map(|(scores, _)| scores.clone()).collect();
        let all = [("_mean", sets.as_slice())]
            .into_iter()
            .chain(answers.keys().map(String::as_str).zip(sets.chunks(1)));
        for (name, scores) in all {
            for ((metric, _), ours) in RANK_METRICS.iter().zip(estimate_means(scores)) {
                let theirs = theirs[name][metric].as_f64().expect("they have each of our metrics");
                assert!((theirs - ours.mean).abs() < 1e-9, "{name} {metric}: {} and {theirs}", ours.mean);
                assert!(ours.mean > 0.02, "{name} {metric}: the draw finds something");
            }
        }
    }
}

#[test]
fn sets_whose_hits_count_one_by_one_score_as_with_their_scorer() {
    let Some(eval) = eval_folder() else { return };
    let (folder, dir) = (eval.join("code-search"), tempfile::tempdir().expect("there is a place for files"));
    let answers = random_answers(&folder);
    let (run, manifest) = (dir.path().join("all.run"), dir.path().join("manifest.json"));
    fs::write(&run, answers.values().map(|(_, rows)| rows.as_str()).collect::<String>())
        .expect("it can be written");
    // Its scorer wants a mark on each repository that has all its answers.
    let mut entries = json_of(&fs::read_to_string(folder.join("manifest.json")).expect("it is there"));
    for entry in entries.as_array_mut().expect("it is a list") {
        entry["all_relevant_paths_exist"] = json!(true);
    }
    fs::write(&manifest, entries.to_string()).expect("it can be written");
    let args =
        [&folder.join("score.py"), &folder.join("annotations"), &run, Path::new("--manifest"), &manifest];
    let theirs = json_of(&run_python(&args, &["--mode", "chunks", "--per-repo", "--json"]));
    for (name, (scores, _)) in &answers {
        let (ours, theirs) =
            (estimate_means(std::slice::from_ref(scores))[0].mean, &theirs["repo"][name]["ndcg10"]);
        let theirs = theirs.as_f64().expect("each set is scored");
        assert!((theirs - ours).abs() < 1e-9, "{name}: {ours} and {theirs}");
    }
    let ours = estimate_means(&answers.into_values().map(|(scores, _)| scores).collect::<Vec<_>>())[0];
    let overall = &theirs["overall"];
    let near = |theirs: &Value, ours: f64, by: f64| (theirs.as_f64().expect("a number") - ours).abs() < by;
    assert!(near(&overall["ndcg10"], ours.mean, 1e-9), "{ours:?} {overall}");
    // They draw other questions.
    let interval = &overall["ci95"];
    assert!(
        near(&interval[0], ours.low, 0.005) && near(&interval[1], ours.high, 0.005),
        "{ours:?} {overall}"
    );
}
