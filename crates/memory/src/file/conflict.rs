//! Splits a text with the conflict markers of git into its two sides, and writes such a text.
//!
//! A marker is a line that begins with several equal characters; their number is the size of the marker.

/// The characters of the markers, in their order. Only the styles `diff3` and `zdiff3` of git have the second marker.
const MARKS: [char; 4] = ['<', '|', '=', '>'];
/// Smallest size of a marker: git's attribute `conflict-marker-size` may be below the default. Shorter lines of this kind are
/// probably the text's own.
const MIN_MARKER_SIZE: usize = 4;
/// Default size of git's markers.
const USUAL_MARKER_SIZE: usize = 7;
/// Largest size of the markers that are written here.
const MAX_MARKER_SIZE: usize = 32;

/// The side of a conflict that a line belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineSide {
    Both,
    Ours,
    Base,
    Theirs,
}

/// Returns the two sides of a text that git could not merge, ours and theirs; `None` if the text has no complete set of markers.
///
/// # Errors
/// When a side also has a line `=======`, so that it is unclear where the side ends.
pub fn parse_conflict_sides(text: &str) -> Result<Option<[String; 2]>, &'static str> {
    find_sides(text, MIN_MARKER_SIZE)
}

/// Returns whether a text has a complete set of markers of any size, which may be the text's own lines.
pub fn may_have_conflict_markers(text: &str) -> bool {
    !matches!(find_sides(text, 1), Ok(None))
}

/// Returns the two sides by the smallest markers that have at least `least` characters and are complete.
fn find_sides(text: &str, least: usize) -> Result<Option<[String; 2]>, &'static str> {
    let opening = text.lines().filter_map(parse_mark).filter(|(mark, size)| *mark == 0 && *size >= least);
    let mut sizes: Vec<usize> = opening.map(|(_, size)| size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    // A text may also have lines of its own that look like markers of another size.
    let mut found = Ok(None);
    for size in sizes {
        match parse_sides_by_size(text, size) {
            Ok(None) => {}
            Ok(Some(sides)) => return Ok(Some(sides)),
            Err(why) => found = Err(why),
        }
    }
    found
}

/// Returns the two sides as [`parse_conflict_sides`] does, but first the side that was written in this worktree.
///
/// In a rebase (`is_rebasing`) git marks the new base, HEAD, as ours, and the worktree's own commit as theirs. `git stash apply`
/// likewise marks the stashed changes as theirs. In both cases the sides are swapped.
///
/// # Errors
/// As for [`parse_conflict_sides`].
pub fn parse_own_side_first(text: &str, is_rebasing: bool) -> Result<Option<[String; 2]>, &'static str> {
    let is_turned = is_rebasing && is_labelled(text, 0, "HEAD") || is_labelled(text, 3, "Stashed changes");
    Ok(parse_conflict_sides(text)?.map(|[one, other]| if is_turned { [other, one] } else { [one, other] }))
}

/// Returns whether a text has a marker, by its index in [`MARKS`], with this label.
fn is_labelled(text: &str, nth: usize, label: &str) -> bool {
    let mut marks = text
        .lines()
        .filter(|line| parse_mark(line).is_some_and(|(of, size)| of == nth && size >= MIN_MARKER_SIZE));
    marks.any(|line| line.trim_end().ends_with(&format!(" {label}")))
}

/// Returns a text with conflict markers around the lines in which two sides differ, ours first; `None` if markers of every size
/// would look like lines of the text.
pub fn render_conflict(ours: &str, theirs: &str) -> Option<String> {
    let [one, other] = [ours, theirs].map(|side| side.split_inclusive('\n').collect::<Vec<_>>());
    let (before, one) = one.split_at(one.iter().zip(&other).take_while(is_same_line).count());
    let other = &other[before.len()..];
    let n_after = one.iter().rev().zip(other.iter().rev()).take_while(is_same_line).count();
    let (one, after) = one.split_at(one.len() - n_after);
    let other = &other[..other.len() - n_after];
    let [before, one, other, after] = [before, one, other, after].map(<[&str]>::concat);
    let marked = |size: usize| {
        let [begin, middle, end] = [0, 2, 3].map(|nth: usize| String::from(MARKS[nth]).repeat(size));
        format!("{before}{begin} ours\n{one}{middle}\n{other}{end} theirs\n{after}")
    };
    (USUAL_MARKER_SIZE..=MAX_MARKER_SIZE)
        .map(marked)
        .find(|text| matches!(parse_conflict_sides(text), Ok(Some(read)) if read == [ours, theirs]))
}

/// Returns whether the lines of two texts at one position are the same.
fn is_same_line((one, other): &(&&str, &&str)) -> bool {
    one == other
}

/// Returns the two sides of a text by markers of one size, as [`parse_conflict_sides`] does.
fn parse_sides_by_size(text: &str, size: usize) -> Result<Option<[String; 2]>, &'static str> {
    let (mut ours, mut theirs) = (String::new(), String::new());
    let (mut at, mut n_conflicts) = (LineSide::Both, 0);
    for line in text.split_inclusive('\n') {
        at = match (at, parse_mark(line).filter(|(_, of_line)| *of_line == size).map(|(mark, _)| mark)) {
            (LineSide::Both, Some(0)) => LineSide::Ours,
            (LineSide::Ours, Some(1)) => LineSide::Base,
            (LineSide::Ours | LineSide::Base, Some(2)) => LineSide::Theirs,
            (LineSide::Theirs, Some(2)) => {
                return Err("in conflict, and more than one line may part its sides: merge it by hand");
            }
            (LineSide::Theirs, Some(3)) => {
                n_conflicts += 1;
                LineSide::Both
            }
            _ => {
                if matches!(at, LineSide::Both | LineSide::Ours) {
                    ours.push_str(line);
                }
                if matches!(at, LineSide::Both | LineSide::Theirs) {
                    theirs.push_str(line);
                }
                continue;
            }
        };
    }
    Ok((at == LineSide::Both && n_conflicts > 0).then_some([ours, theirs]))
}

/// Returns the index in [`MARKS`] of the marker that a line is, and the marker's size; `None` if the line is no marker.
fn parse_mark(line: &str) -> Option<(usize, usize)> {
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
            // `memo share sync` writes markers of this kind, and our side comes first in them even during a rebase.
            (text(["0123abc", "4567def"]), true, ["a\n", "b\n"]),
        ];
        for (text, is_rebasing, expected) in cases {
            let expected = expected.map(str::to_owned);
            assert_eq!(parse_own_side_first(&text, is_rebasing), Ok(Some(expected)), "{text}");
        }
        assert_eq!(parse_own_side_first("a", true), Ok(None));
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
            let text = render_conflict(ours, theirs).unwrap();
            assert_eq!(parse_conflict_sides(&text), Ok(Some([ours.to_owned(), theirs.to_owned()])), "{text}");
        }
        assert_eq!(render_conflict("no line end", "b\n"), None);
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
            assert_eq!(parse_conflict_sides(text), Ok(expected), "{text}");
        }
        assert!(parse_conflict_sides("<<<<<<< HEAD\nTitle\n=======\nb\n=======\nc\n>>>>>>> s\n").is_err());
    }
}
