//! Finds the new names of removed files: first by equal content, then by similarity.

use std::collections::{BTreeMap, HashMap};

use memod_base::types::file_name;
use memod_git::{MIN_SIMILARITY_PERCENT, ObjectId, similarity_percent};

use super::tree_changes::ChangesByPath;
use super::version_texts::VersionTextReader;

/// Maximum number of added and of removed files that are compared pairwise to find renamed files with changes.
const MOST_COMPARED: usize = 100;

/// Turns pairs of an added and a removed file into renamed files.
pub(super) fn pair_renames(changes: &mut ChangesByPath, texts: &VersionTextReader<'_>) {
    let mut by_id: HashMap<ObjectId, Vec<String>> = HashMap::new();
    for (path, was) in &changes.removed {
        by_id.entry(was.id).or_default().push(path.clone());
    }
    let same: Vec<(String, String)> = changes
        .added
        .iter()
        .filter_map(|(path, added)| Some((path.clone(), by_id.get_mut(&added.id)?.pop()?)))
        .collect();
    same.into_iter().for_each(|(new, old)| changes.record_rename(new, old));
    // A moved file usually keeps its file name, and comparing only such pairs is cheap. Git does the same.
    for (new, old) in list_same_name_pairs(changes) {
        let was = changes.removed.get(&old).and_then(|was| texts.read_object_text(was.id));
        let is = changes.added.get(&new).and_then(|is| texts.new_text(&new, is.hash, is.id));
        if was.zip(is).is_some_and(|(was, is)| {
            similarity_percent(was.as_bytes(), is.as_bytes()) >= MIN_SIMILARITY_PERCENT
        }) {
            changes.record_rename(new, old);
        }
    }
    if changes.added.len() <= MOST_COMPARED && changes.removed.len() <= MOST_COMPARED {
        pair_alike(changes, texts);
    }
}

/// Returns pairs of an added and a removed file with the same file name, if that name is unique among both.
fn list_same_name_pairs(changes: &ChangesByPath) -> Vec<(String, String)> {
    let mut by_name: BTreeMap<&str, (Vec<&String>, Vec<&String>)> = BTreeMap::new();
    for path in changes.added.keys() {
        by_name.entry(file_name(path)).or_default().0.push(path);
    }
    for path in changes.removed.keys() {
        by_name.entry(file_name(path)).or_default().1.push(path);
    }
    let pairs = by_name.into_values().filter_map(|(new, old)| match (new.as_slice(), old.as_slice()) {
        ([new], [old]) => Some(((*new).clone(), (*old).clone())),
        _ => None,
    });
    pairs.collect()
}

/// Compares all pairs of added and removed files, and records similar ones as renamed, the most similar first.
fn pair_alike(changes: &mut ChangesByPath, texts: &VersionTextReader<'_>) {
    let removed: Vec<(String, String)> = changes
        .removed
        .iter()
        .filter_map(|(path, was)| Some((path.clone(), texts.read_object_text(was.id)?)))
        .collect();
    let mut alike = Vec::new();
    for (new, added) in &changes.added {
        let Some(text) = texts.new_text(new, added.hash, added.id) else { continue };
        let shares = removed
            .iter()
            .map(|(old, was)| (similarity_percent(was.as_bytes(), text.as_bytes()), old.clone()));
        let shares = shares.filter(|(share, _)| *share >= MIN_SIMILARITY_PERCENT);
        alike.extend(shares.map(|(share, old)| (share, new.clone(), old)));
    }
    alike.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| (&a.1, &a.2).cmp(&(&b.1, &b.2))));
    for (_, new, old) in alike {
        if changes.added.contains_key(&new) && changes.removed.contains_key(&old) {
            changes.record_rename(new, old);
        }
    }
}
