//! Merges two texts of a memory with a common ancestor.

use super::{MAX_FILE_BYTES, MemoryFile};

/// The outcome of a merge.
#[derive(Clone, Debug, PartialEq)]
pub enum MergeOutcome {
    /// Their text is the result: ours has no change that theirs lacks.
    Theirs,
    /// Our text is the result: theirs has no change that ours lacks.
    Ours,
    /// Both have changes, which do not overlap; this is the merged memory.
    Both(Box<MemoryFile>),
    /// The changes overlap, so a person must choose.
    Conflict,
}

/// Merges two texts that were changed since their common ancestor `base`, line by line, as git does. The times of the changes do
/// not matter. An empty text is an archived memory: editing a memory that another member archived keeps it.
pub fn merge_versions(base: &str, ours: &str, theirs: &str) -> MergeOutcome {
    match (ours.is_empty(), theirs.is_empty()) {
        // We archived the text that they still have, so the memory stays archived.
        (true, false) if are_equal_memories(base, theirs) => return MergeOutcome::Ours,
        (true, _) => return MergeOutcome::Theirs,
        (false, true) => return if base == ours { MergeOutcome::Theirs } else { MergeOutcome::Ours },
        (false, false) => {}
    }
    let (Some(ours), Some(theirs)) = (parse_memory(ours), parse_memory(theirs)) else {
        return MergeOutcome::Conflict;
    };
    if ours.equals_except_updated(&theirs) {
        return MergeOutcome::Theirs;
    }
    let Some(base) = parse_memory(base) else { return MergeOutcome::Conflict };
    if base.equals_except_updated(&theirs) {
        return MergeOutcome::Ours;
    }
    if base.equals_except_updated(&ours) {
        return MergeOutcome::Theirs;
    }
    let updated = ours.updated.max(theirs.updated);
    let [base, ours, theirs] = [base, ours, theirs].map(|file| MemoryFile { updated, ..file }.render());
    let merged =
        diffy::merge(&base, &ours, &theirs).ok().filter(|merged| merged.len() as u64 <= MAX_FILE_BYTES);
    // Lines that merge without a conflict may still not be a memory.
    merged
        .as_deref()
        .and_then(parse_memory)
        .map_or(MergeOutcome::Conflict, |merged| MergeOutcome::Both(Box::new(merged)))
}

/// Parses a text; `None` if it is not a memory.
fn parse_memory(text: &str) -> Option<MemoryFile> {
    MemoryFile::parse(text).ok()
}

/// Returns whether two texts are memories that are the same, apart from the time of the last update.
fn are_equal_memories(one: &str, other: &str) -> bool {
    parse_memory(one).zip(parse_memory(other)).is_some_and(|(one, other)| one.equals_except_updated(&other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(change: impl FnOnce(&mut MemoryFile)) -> String {
        let mut file = MemoryFile {
            container: "project".to_owned(),
            tags: vec!["a".to_owned()],
            priority: 5,
            confidence: 1.0,
            author: "Ann".to_owned(),
            created: 1_000,
            updated: 1_000,
            content: "first line\n\nsecond line\n\nthird line".to_owned(),
            ..MemoryFile::default()
        };
        change(&mut file);
        file.render()
    }

    #[test]
    fn changes_that_do_not_touch_are_joined() {
        let ours = text(|file| (file.tags, file.updated) = (vec!["b".to_owned()], 5_000));
        let theirs = text(|file| {
            file.content = file.content.replace("third", "last");
            file.updated = 9_000;
        });
        let MergeOutcome::Both(merged) = merge_versions(&text(|_| ()), &ours, &theirs) else {
            panic!("a conflict")
        };
        assert_eq!((merged.tags.as_slice(), merged.updated), (["b".to_owned()].as_slice(), 9_000));
        assert_eq!(merged.content, "first line\n\nsecond line\n\nlast line");
        assert_eq!(
            merge_versions(&text(|_| ()), &theirs, &ours),
            MergeOutcome::Both(merged),
            "sides do not matter"
        );
    }

    #[test]
    fn changes_of_one_line_are_a_conflict() {
        let of = |word: &str| text(|file| file.content = file.content.replace("second", word));
        assert_eq!(merge_versions(&text(|_| ()), &of("our"), &of("their")), MergeOutcome::Conflict);
        assert_eq!(
            merge_versions("", &of("our"), &of("their")),
            MergeOutcome::Conflict,
            "the common version is unknown"
        );
    }

    #[test]
    fn one_side_alone_holds() {
        let base = text(|_| ());
        let new = text(|file| (file.priority, file.updated) = (9, 2_000));
        let later = text(|file| file.updated = 7_000);
        assert_eq!(merge_versions(&base, &later, &new), MergeOutcome::Theirs);
        assert_eq!(merge_versions(&base, &new, &later), MergeOutcome::Ours);
        assert_eq!(merge_versions(&base, &new, &new), MergeOutcome::Theirs);
    }

    #[test]
    fn an_edit_outlives_an_archiving() {
        let (base, new) = (text(|_| ()), text(|file| file.priority = 9));
        assert_eq!(merge_versions(&base, &new, ""), MergeOutcome::Ours);
        assert_eq!(merge_versions(&base, "", &new), MergeOutcome::Theirs);
        assert_eq!(
            merge_versions(&base, "", &text(|file| file.updated = 9_000)),
            MergeOutcome::Ours,
            "it says the same"
        );
        assert_eq!(merge_versions(&base, "", ""), MergeOutcome::Theirs);
        assert_eq!(merge_versions(&base, &base, ""), MergeOutcome::Theirs);
    }

    #[test]
    fn a_text_that_is_no_memory_is_a_conflict() {
        assert_eq!(
            merge_versions(&text(|_| ()), &text(|file| file.priority = 9), "no memory"),
            MergeOutcome::Conflict
        );
    }
}
