//! Takes the markers of a conflict of git out of a text.

/// Characters of the lines with which git marks the sides of a conflict, in their order. The second is there in the styles
/// `diff3` and `zdiff3` only.
const MARKS: [char; 4] = ['<', '|', '=', '>'];
/// Their least number: the attribute `conflict-marker-size` may say a smaller one than git's own. Of fewer characters a text may well
/// have such lines of its own.
const LEAST: usize = 4;
/// Their number where nothing else is said.
const USUAL: usize = 7;
/// Their most in a text that is written here.
const MOST: usize = 32;

/// Where a line belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    Both,
    Ours,
    Base,
    Theirs,
}

/// Returns the two sides of a text that git could not merge: ours and theirs. `None` if it has no complete set of markers.
///
/// # Errors
/// When a side has a line `=======` too, so that nobody can tell where it ends.
pub fn sides(text: &str) -> Result<Option<[String; 2]>, &'static str> {
    sides_from(text, LEAST)
}

/// Returns whether a text has a complete set of markers of any size, which may also be lines of its own.
pub fn may_have_sides(text: &str) -> bool {
    !matches!(sides_from(text, 1), Ok(None))
}

fn sides_from(text: &str, least: usize) -> Result<Option<[String; 2]>, &'static str> {
    let opening = text.lines().filter_map(mark).filter(|(mark, size)| *mark == 0 && *size >= least);
    let mut sizes: Vec<usize> = opening.map(|(_, size)| size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    // A text may have such lines of its own, of another size.
    let mut found = Ok(None);
    for size in sizes {
        match sides_of(text, size) {
            Ok(None) => {}
            Ok(Some(sides)) => return Ok(Some(sides)),
            Err(why) => found = Err(why),
        }
    }
    found
}

/// Returns the two sides as [`sides`], with what was written in the worktree as the first.
///
/// While commits are put on top of others (`is_rebasing`), git calls these others, HEAD, ours; so it does where it applies what was
/// stashed.
///
/// # Errors
/// As [`sides`].
pub fn own_side_first(text: &str, is_rebasing: bool) -> Result<Option<[String; 2]>, &'static str> {
    let is_labelled = |nth: usize, label: &str| {
        let mut marks =
            text.lines().filter(|line| mark(line).is_some_and(|(of, size)| of == nth && size >= LEAST));
        marks.any(|line| line.trim_end().ends_with(&format!(" {label}")))
    };
    let is_turned = is_rebasing && is_labelled(0, "HEAD") || is_labelled(3, "Stashed changes");
    let turn = |[one, other]: [String; 2]| if is_turned { [other, one] } else { [one, other] };
    Ok(sides(text)?.map(turn))
}

/// Returns a text that is in conflict where two sides differ, with what was written in the worktree as the first; `None` if no
/// markers can be told from its lines.
pub fn in_conflict(ours: &str, theirs: &str) -> Option<String> {
    let [one, other] = [ours, theirs].map(|side| side.split_inclusive('\n').collect::<Vec<_>>());
    let is_same = |(one, other): &(&&str, &&str)| one == other;
    let (before, one) = one.split_at(one.iter().zip(&other).take_while(is_same).count());
    let other = &other[before.len()..];
    let n_after = one.iter().rev().zip(other.iter().rev()).take_while(is_same).count();
    let (one, after) = one.split_at(one.len() - n_after);
    let other = &other[..other.len() - n_after];
    let [before, one, other, after] = [before, one, other, after].map(<[&str]>::concat);
    let marked = |size: usize| {
        let [begin, middle, end] = [0, 2, 3].map(|nth: usize| String::from(MARKS[nth]).repeat(size));
        format!("{before}{begin} ours\n{one}{middle}\n{other}{end} theirs\n{after}")
    };
    let is_read = |text: &String| matches!(sides(text), Ok(Some(read)) if read == [ours, theirs]);
    (USUAL..=MOST).map(marked).find(is_read)
}

/// Returns the two sides by markers of one size.
fn sides_of(text: &str, size: usize) -> Result<Option<[String; 2]>, &'static str> {
    let (mut ours, mut theirs) = (String::new(), String::new());
    let (mut at, mut n_conflicts) = (At::Both, 0);
    for line in text.split_inclusive('\n') {
        at = match (at, mark(line).filter(|(_, of_line)| *of_line == size).map(|(mark, _)| mark)) {
            (At::Both, Some(0)) => At::Ours,
            (At::Ours, Some(1)) => At::Base,
            (At::Ours | At::Base, Some(2)) => At::Theirs,
            (At::Theirs, Some(2)) => {
                return Err("in conflict, and more than one line may part its sides: merge it by hand");
            }
            (At::Theirs, Some(3)) => {
                n_conflicts += 1;
                At::Both
            }
            _ => {
                if matches!(at, At::Both | At::Ours) {
                    ours.push_str(line);
                }
                if matches!(at, At::Both | At::Theirs) {
                    theirs.push_str(line);
                }
                continue;
            }
        };
    }
    Ok((at == At::Both && n_conflicts > 0).then_some([ours, theirs]))
}

/// Returns the number of the marker that a line is, and its size.
fn mark(line: &str) -> Option<(usize, usize)> {
    let line = line.trim_end();
    let first = line.chars().next()?;
    let mark = MARKS.iter().position(|known| *known == first)?;
    let rest = line.trim_start_matches(first);
    let size = line.len() - rest.len();
    (rest.is_empty() || rest.starts_with(' ')).then_some((mark, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_here_comes_first() {
        let text =
            |labels: [&str; 2]| format!("<<<<<<< {}\na\n=======\nb\n>>>>>>> {}\n", labels[0], labels[1]);
        let cases = [
            (text(["HEAD", "side"]), false, ["a\n", "b\n"]),
            (text(["HEAD", "0123abc (x)"]), true, ["b\n", "a\n"]),
            (text(["Updated upstream", "Stashed changes"]), false, ["b\n", "a\n"]),
            // Of `memo sync-notes`, in the middle of a rebase.
            (text(["0123abc", "4567def"]), true, ["a\n", "b\n"]),
        ];
        for (text, is_rebasing, expected) in cases {
            let expected = expected.map(str::to_owned);
            assert_eq!(own_side_first(&text, is_rebasing), Ok(Some(expected)), "{text}");
        }
        assert_eq!(own_side_first("a", true), Ok(None));
    }

    #[test]
    fn what_is_written_in_conflict_has_both_sides() {
        for [ours, theirs] in [
            ["a\n", "b\n"],
            ["Title\n=======\nx\n", "b\n"],
            ["a\n<<<<<<< x\n", "a\n>>>>>>>>\n"],
            ["a\nb\nc\n", "a\nc\n"],
            ["", ""],
        ] {
            let text = in_conflict(ours, theirs).unwrap();
            assert_eq!(sides(&text), Ok(Some([ours.to_owned(), theirs.to_owned()])), "{text}");
        }
        assert_eq!(in_conflict("no line end", "b\n"), None);
    }

    #[test]
    fn both_sides_are_whole() {
        let cases = [
            ("a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> side\nd\n", Some(("a\nb\nd\n", "a\nc\nd\n"))),
            ("<<<<<<< HEAD\nb\n||||||| base\nx\n=======\n>>>>>>> s\n", Some(("b\n", ""))),
            (
                "<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> s\nm\n<<<<<<<\nd\n=======\ne\n>>>>>>>\n",
                Some(("b\nm\nd\n", "c\nm\ne\n")),
            ),
            (
                "<<<<<<<<<< HEAD\nb\n=======\nx\n==========\nc\n>>>>>>>>>> s\n",
                Some(("b\n=======\nx\n", "c\n")),
            ),
            (
                "<<<<<<<<< x\n<<<<<<<\na\n=======\nb\n>>>>>>>\n",
                Some(("<<<<<<<<< x\na\n", "<<<<<<<<< x\nb\n")),
            ),
            ("<<<< HEAD\nb\n|||| base\nx\n====\nc\n>>>> s\n", Some(("b\n", "c\n"))),
            ("<<<< x\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> s\n", Some(("<<<< x\nb\n", "<<<< x\nc\n"))),
            ("<<< HEAD\nb\n===\nc\n>>> s\n", None), // may be lines of the text
            ("Title\n=======\ntext\n", None),
            ("<<<<<<< HEAD\nb\n=======\nc\n", None),
            ("a\n>>>>>>> s\n", None),
            ("", None),
        ];
        for (text, expected) in cases {
            let expected = expected.map(|(ours, theirs)| [ours.to_owned(), theirs.to_owned()]);
            assert_eq!(sides(text), Ok(expected), "{text}");
        }
        assert!(sides("<<<<<<< HEAD\nTitle\n=======\nb\n=======\nc\n>>>>>>> s\n").is_err());
    }
}
