use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use memod_embed::{CosineScale, QueryVector};
use memod_index_db::{ManifestChange, NewVector, VectorOwner, test_rows};
use memod_vectors::shared_vectors::VectorsUnavailable;

use super::*;

const N_TEXTS: usize = 40;
const N_SWITCHES: usize = 30;

/// Returns the vector of a text by a model: each model has axes of its own, so a comparison of two models gives 0.
fn vector(model: &str, text: usize) -> Vec<i8> {
    let mut vector = vec![0; 2 * N_TEXTS];
    vector[text + if model == "one" { 0 } else { N_TEXTS }] = 127;
    vector
}

fn put(path: usize) -> ManifestChange {
    put_at(&path.to_string(), path)
}

/// Returns the change that puts a text at a path.
fn put_at(path: &str, text: usize) -> ManifestChange {
    let text = format!("text {text}");
    test_rows::put_change(path, *blake3::hash(path.as_bytes()).as_bytes(), vec![test_rows::own_chunk(&text)])
}

fn new_vectors(reader: &IndexReader, model: &str) -> Vec<NewVector> {
    let number = |text: &str| text.rsplit(' ').next().unwrap().parse::<usize>().unwrap();
    let chunks = reader.list_chunks_without_vector(model, ChunkId(0), 99).unwrap().into_iter().map(|chunk| {
        NewVector {
            vec: Some(vector(model, number(chunk.key.as_str()))),
            owner: VectorOwner::Chunk(chunk.id, chunk.text_hash),
        }
    });
    let paths = reader.list_paths_without_vector(99).unwrap().into_iter();
    let paths = paths.map(|(id, path)| NewVector {
        owner: VectorOwner::Path(id),
        vec: Some(vector(model, number(&path))),
    });
    chunks.chain(paths).collect()
}

/// Embeds each text and each path by "one".
fn filled(path: &Path) -> (IndexWriter, SharedVectors) {
    let mut writer = IndexWriter::open(path, "one").unwrap();
    let view = writer.find_or_add_worktree(&test_rows::worktree_key()).unwrap();
    writer.apply_changes(view, &(0..N_TEXTS).map(put).collect::<Vec<_>>(), 0).unwrap();
    let reader = IndexReader::open(path).unwrap();
    writer.add_vectors(&new_vectors(&reader, "one")).unwrap();
    let nearest = SharedVectors::default();
    let mut vectors = VectorIndex::new(2 * N_TEXTS);
    writer.take_added_vectors().iter().for_each(|(id, vector)| vectors.add_vector(*id, vector));
    nearest.replace_copies("one", vectors);
    (writer, nearest)
}

/// Asks for each text in turn, by the model of the snapshot, until the switches are over.
fn search(path: &Path, nearest: &SharedVectors, is_over: &AtomicBool, n_asked: &AtomicUsize) -> usize {
    let reader = IndexReader::open(path).unwrap();
    let mut n_repeated = 0;
    while !is_over.load(Ordering::SeqCst) {
        let text = n_asked.fetch_add(1, Ordering::SeqCst) % N_TEXTS;
        let ask = || {
            reader.read_snapshot(|reader| {
                let model = reader.model_id()?;
                let values = vector(&model, text);
                let of_path = reader.path_vector(&text.to_string())?;
                assert_eq!(of_path.as_ref(), Some(&values), "a path of another model than its snapshot");
                let query = QueryVector::from_stored(&model, CosineScale::default(), values);
                nearest.find_nearest(reader, &query, 1, None)
            })
        };
        let mut found = ask().unwrap();
        while found == Err(VectorsUnavailable::OtherModel) {
            n_repeated += 1;
            found = ask().unwrap();
        }
        let cosine = found.expect("vectors of some model are always there")[0].1;
        assert!((cosine - 1.0).abs() < 1e-9, "vectors of two models were compared: {cosine}");
    }
    n_repeated
}

#[test]
fn vectors_of_two_models_are_never_mixed_in_memory() {
    never_mixed(false);
}

#[test]
fn vectors_of_two_models_are_never_mixed_in_the_table() {
    never_mixed(true);
}

/// Switches while searches go on.
fn never_mixed(is_in_table: bool) {
    let temp = tempfile::tempdir().unwrap();
    let path = &temp.path().join("index.db");
    let (mut writer, nearest) = filled(path);
    if is_in_table {
        writer.prepare_vector_table(2 * N_TEXTS).unwrap();
        writer.fill_vector_table(99).unwrap();
        nearest.use_table();
    }
    let (is_over, n_asked) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        let searches: Vec<_> =
            (0..3).map(|_| scope.spawn(|| search(path, &nearest, &is_over, &n_asked))).collect();
        let reader = IndexReader::open(path).unwrap();
        for nth in 0..N_SWITCHES {
            let model = if nth % 2 == 0 { "two" } else { "one" };
            writer.set_next_model(Some(model)).unwrap();
            writer.add_next_vectors(model, &new_vectors(&reader, model)).unwrap();
            let n_before = n_asked.load(Ordering::SeqCst);
            switch_database_and_copy(&nearest, &reader, &mut writer, model, 2 * N_TEXTS).unwrap();
            while n_asked.load(Ordering::SeqCst) < n_before + 20
                && !searches.iter().any(thread::ScopedJoinHandle::is_finished)
            {
                thread::yield_now();
            }
        }
        is_over.store(true, Ordering::SeqCst);
        let n_repeated: usize = searches.into_iter().map(|search| search.join().unwrap()).sum();
        let n_asked = n_asked.load(Ordering::SeqCst);
        assert!(n_asked > 20 * N_SWITCHES, "{n_asked} searches, {n_repeated} repeated");
    });
    assert_eq!(writer.model_id(), "one");
}

#[test]
fn a_query_of_another_model_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    let path = &temp.path().join("index.db");
    let (mut writer, nearest) = filled(path);
    let reader = IndexReader::open(path).unwrap();
    let query = |model| QueryVector::from_stored(model, CosineScale::default(), vector(model, 3));
    let top = |model| nearest.find_nearest(&reader, &query(model), 1, None).unwrap();
    assert!(top("one").is_ok());
    assert_eq!(top("two"), Err(VectorsUnavailable::OtherModel), "in memory");
    writer.prepare_vector_table(2 * N_TEXTS).unwrap();
    writer.fill_vector_table(99).unwrap();
    nearest.use_table();
    assert!(top("one").is_ok());
    assert_eq!(top("two"), Err(VectorsUnavailable::OtherModel), "in the table");
    writer.set_next_model(Some("two")).unwrap();
    writer.add_next_vectors("two", &new_vectors(&reader, "two")).unwrap();
    switch_database_and_copy(&nearest, &reader, &mut writer, "two", 2 * N_TEXTS).unwrap();
    assert_eq!(top("one"), Err(VectorsUnavailable::OtherModel));
    assert!(top("two").is_ok(), "the transaction that switches fills the table");
}

#[test]
fn vectors_of_an_apply_before_the_switch_stay_with_their_model() {
    let temp = tempfile::tempdir().unwrap();
    let path = &temp.path().join("index.db");
    let (mut writer, nearest) = filled(path);
    let reader = IndexReader::open(path).unwrap();
    writer.set_next_model(Some("two")).unwrap();
    writer.add_next_vectors("two", &new_vectors(&reader, "two")).unwrap();
    let view = writer.find_or_add_worktree(&test_rows::worktree_key()).unwrap();
    writer.apply_changes(view, &[put_at("new/3", 3)], 0).unwrap();
    switch_database_and_copy(&nearest, &reader, &mut writer, "two", 2 * N_TEXTS).unwrap();
    let left = writer.take_added_vectors();
    assert!(left.is_empty(), "{} vectors of the former model are about to be added", left.len());
    let query = QueryVector::from_stored("one", CosineScale::default(), vector("one", 3));
    assert_eq!(nearest.find_nearest(&reader, &query, 1, None).unwrap(), Err(VectorsUnavailable::OtherModel));
}
