//! Takes the markers of a conflict of git out of a text.

/// Beginnings of the lines with which git marks the sides of a conflict, in their order. The second is there in the styles
/// `diff3` and `zdiff3` only.
const MARKS: [&str; 4] = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"];

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
    let (mut ours, mut theirs) = (String::new(), String::new());
    let (mut at, mut n_conflicts) = (At::Both, 0);
    for line in text.split_inclusive('\n') {
        at = match (at, mark(line)) {
            (At::Both, Some(0)) => At::Ours,
            (At::Ours, Some(1)) => At::Base,
            (At::Ours | At::Base, Some(2)) => At::Theirs,
            (At::Theirs, Some(2)) => {
                return Err("in conflict, and more than one line is =======: merge it by hand");
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

/// Returns the number of the marker that a line is.
fn mark(line: &str) -> Option<usize> {
    let line = line.trim_end();
    let is_mark =
        |mark: &str| line.strip_prefix(mark).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    MARKS.iter().position(|known| is_mark(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_are_whole() {
        let cases = [
            ("a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> side\nd\n", Some(("a\nb\nd\n", "a\nc\nd\n"))),
            ("<<<<<<< HEAD\nb\n||||||| base\nx\n=======\n>>>>>>> s\n", Some(("b\n", ""))),
            (
                "<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> s\nm\n<<<<<<<\nd\n=======\ne\n>>>>>>>\n",
                Some(("b\nm\nd\n", "c\nm\ne\n")),
            ),
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
