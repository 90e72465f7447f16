//! Merges two texts of a memory that come from one.

use super::{MAX_FILE, MemoryFile};

/// The outcome of a merge.
#[derive(Clone, Debug, PartialEq)]
pub enum Merged {
    /// Theirs holds: ours has nothing that it lacks.
    Theirs,
    /// Ours holds: theirs has nothing that it lacks.
    Ours,
    /// Both changes, which do not touch.
    Both(Box<MemoryFile>),
    /// Somebody must choose.
    Conflict,
}

/// Merges line by line, as git does. When a text was changed does not matter. An empty text is a memory that was archived: who
/// edits one that somebody else archives, keeps it.
pub fn merge(base: &str, ours: &str, theirs: &str) -> Merged {
    let parse = |text: &str| MemoryFile::parse(text).ok();
    let same = |one: &str, other: &str| {
        parse(one).zip(parse(other)).is_some_and(|(one, other)| one.says_same(&other))
    };
    match (ours.is_empty(), theirs.is_empty()) {
        // Who has archived it, saw what the team has.
        (true, false) if same(base, theirs) => return Merged::Ours,
        (true, _) => return Merged::Theirs,
        (false, true) => return if base == ours { Merged::Theirs } else { Merged::Ours },
        (false, false) => {}
    }
    let (Some(ours), Some(theirs)) = (parse(ours), parse(theirs)) else { return Merged::Conflict };
    if ours.says_same(&theirs) {
        return Merged::Theirs;
    }
    let Some(base) = parse(base) else { return Merged::Conflict };
    if base.says_same(&theirs) {
        return Merged::Ours;
    }
    if base.says_same(&ours) {
        return Merged::Theirs;
    }
    let updated = ours.updated.max(theirs.updated);
    let [base, ours, theirs] = [base, ours, theirs].map(|file| MemoryFile { updated, ..file }.render());
    let merged = diffy::merge(&base, &ours, &theirs).ok().filter(|merged| merged.len() as u64 <= MAX_FILE);
    // Lines that fit together may still be no memory.
    merged.as_deref().and_then(parse).map_or(Merged::Conflict, |merged| Merged::Both(Box::new(merged)))
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
        let Merged::Both(merged) = merge(&text(|_| ()), &ours, &theirs) else { panic!("a conflict") };
        assert_eq!((merged.tags.as_slice(), merged.updated), (["b".to_owned()].as_slice(), 9_000));
        assert_eq!(merged.content, "first line\n\nsecond line\n\nlast line");
        assert_eq!(merge(&text(|_| ()), &theirs, &ours), Merged::Both(merged), "sides do not matter");
    }

    #[test]
    fn changes_of_one_line_are_a_conflict() {
        let of = |word: &str| text(|file| file.content = file.content.replace("second", word));
        assert_eq!(merge(&text(|_| ()), &of("our"), &of("their")), Merged::Conflict);
        assert_eq!(merge("", &of("our"), &of("their")), Merged::Conflict, "nothing in common is known");
    }

    #[test]
    fn one_side_alone_holds() {
        let base = text(|_| ());
        let new = text(|file| (file.priority, file.updated) = (9, 2_000));
        let later = text(|file| file.updated = 7_000);
        assert_eq!(merge(&base, &later, &new), Merged::Theirs);
        assert_eq!(merge(&base, &new, &later), Merged::Ours);
        assert_eq!(merge(&base, &new, &new), Merged::Theirs);
    }

    #[test]
    fn an_edit_outlives_an_archiving() {
        let (base, new) = (text(|_| ()), text(|file| file.priority = 9));
        assert_eq!(merge(&base, &new, ""), Merged::Ours);
        assert_eq!(merge(&base, "", &new), Merged::Theirs);
        assert_eq!(merge(&base, "", &text(|file| file.updated = 9_000)), Merged::Ours, "it says the same");
        assert_eq!(merge(&base, "", ""), Merged::Theirs);
        assert_eq!(merge(&base, &base, ""), Merged::Theirs);
    }

    #[test]
    fn a_text_that_is_no_memory_is_a_conflict() {
        assert_eq!(merge(&text(|_| ()), &text(|file| file.priority = 9), "no memory"), Merged::Conflict);
    }
}
