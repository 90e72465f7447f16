//! Checks that lines are found where they are, and nowhere else.

use memod_base::types::TextHash;

use super::*;

/// Returns the definitions of a text: each goes from a line `def NAME` to the next line without text.
fn list_definitions(text: &str) -> Vec<Definition> {
    let lines: Vec<&str> = text.lines().collect();
    let starts = lines.iter().enumerate().filter(|(_, line)| line.starts_with("def "));
    let define_at = |(at, line): (usize, &&str)| {
        let n_lines = lines[at..].iter().take_while(|line| !line.is_empty()).count();
        Definition {
            title: line[4..].to_owned(),
            lines: (at as u32 + 1, (at + n_lines) as u32),
            text: TextHash::hash_bytes(lines[at..at + n_lines].join("\n").as_bytes()),
            ..Definition::default()
        }
    };
    starts.map(define_at).collect()
}

fn describe_lines(text: &str, lines: (u32, u32)) -> Seen {
    let (all, definitions) = (LineHashes::new(text), list_definitions(text));
    let run = all.hash_lines(lines).unwrap().to_string();
    let places = all.find_runs(lines.1 - lines.0 + 1, &run);
    let nth = places.iter().position(|first| *first == lines.0).unwrap() as u32 + 1;
    let around = Some(all.describe_surroundings(lines, &definitions, true));
    Seen { text: run, nth: Some((nth, places.len() as u32)), around, ..Seen::default() }
}

const TEXT: &str = "\
import sys

def first
 if no text:
  return None
 return parts

def second
 open the file
 if no file:
  return None
 return the rows

def third
 if no rows:
  return None
";

/// Checks where the lines of an anchor in [`TEXT`] are after replacements: the lines if they are certain, or else the most
/// likely ones, negative.
fn check(lines: (u32, u32), replacements: &[(&str, &str)], expected: Option<(i32, i32)>) {
    let now = replacements.iter().fold(TEXT.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    });
    let found = LineHashes::new(&now).find_anchored_lines(
        lines,
        &describe_lines(TEXT, lines),
        &list_definitions(&now),
    );
    let found = found.map(|found| {
        let sign = if found.is_certain { 1 } else { -1 };
        (found.lines.0 as i32 * sign, found.lines.1 as i32 * sign)
    });
    assert_eq!(found, expected, "{lines:?} in:\n{now}");
}

#[test]
fn lines_are_found_where_their_surroundings_are() {
    check((5, 5), &[], Some((5, 5)));
    check((11, 11), &[("import sys\n", "import sys\nimport os\n")], Some((12, 12)));
    check((5, 5), &[("return parts", "return parts[1:]")], Some((5, 5)));
    check((5, 5), &[("return parts", "return parts[1:]"), (" if no", " if not")], Some((-5, -5)));
    check((11, 11), &[("def second", "def other")], Some((11, 11)));
    check((11, 11), &[("open the file", "open it"), ("return the rows", "rows")], Some((11, 11)));
    check((9, 10), &[("return the rows", "return all rows")], Some((9, 10)));
    check((9, 11), &[("return the rows", "return all rows")], Some((9, 11)));
}

#[test]
fn common_lines_are_not_found_elsewhere() {
    check((5, 5), &[(" if no text:\n  return None\n", "")], Some((-3, -3)));
    check((5, 5), &[("def first\n if no text:\n  return None\n return parts\n\n", "")], None);
    let moved = [(" if no text:\n  return None\n", ""), (" if no rows", "  return None\n if no rows")];
    check((5, 5), &moved, Some((-3, -3)));
    check((16, 16), &[(" if no rows:\n  return None\n", " pass\n")], Some((-15, -15)));
}

#[test]
fn edited_lines_are_likely_between_the_same_lines() {
    check((9, 11), &[(" if no file", " if no such file")], Some((-9, -11)));
    check(
        (9, 11),
        &[("import sys\n", "\n\n\n"), (" if no file", " if none:\n  # why\n if so")],
        Some((-11, -15)),
    );
}

#[test]
fn an_anchor_without_surroundings_needs_unmistakable_lines() {
    let text = "def a\n return None\n return the_only_place_of_that(value)\n";
    let legacy = |lines| Seen { around: None, ..describe_lines(text, lines) };
    let now = LineHashes::new("x\n return None\n return the_only_place_of_that(value)\n");
    assert_eq!(now.find_anchored_lines((2, 2), &legacy((2, 2)), &[]), None);
    let found = now.find_anchored_lines((3, 3), &legacy((3, 3)), &[]);
    assert_eq!(found, Some(FoundLines { lines: (3, 3), is_certain: true }));
}

#[test]
fn surroundings_that_memod_did_not_write_are_harmless() {
    let around = Surroundings {
        n_below: 9,
        unique: (1, 0),
        above: vec![(String::new(), u32::MAX)],
        ..Surroundings::default()
    };
    let seen = Seen { around: Some(around), ..describe_lines(TEXT, (5, 5)) };
    let all = LineHashes::new(TEXT);
    for lines in [(5, 5), (0, u32::MAX), (9, 3), (u32::MAX, u32::MAX)] {
        let found = all.find_anchored_lines(lines, &seen, &list_definitions(TEXT));
        assert!(found.is_none_or(|found| !found.is_certain), "{lines:?}: {found:?}");
    }
}

/// A line with an identity that edits keep.
type Marked = (usize, String);

/// Returns a number below `n` from a linear congruential generator (Knuth, MMIX).
fn draw_number(state: &mut u64, n: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize % n
}

/// Writes a function of a few lines. Other functions have most of these lines too.
fn write_function(state: &mut u64, next: &mut usize) -> Vec<Marked> {
    const COMMON: [&str; 6] =
        [" if err != nil {", "  return err", " }", "  return None", " for row in rows:", " log(row)"];
    let name = *next;
    let mut lines = vec![format!("def f{name}")];
    for _ in 0..2 + draw_number(state, 8) {
        let line = match draw_number(state, 3) {
            0 => format!(" value{} = call{}()", draw_number(state, 40), draw_number(state, 40)),
            _ => COMMON[draw_number(state, COMMON.len())].to_owned(),
        };
        lines.push(line);
    }
    lines.push(String::new());
    lines
        .into_iter()
        .map(|line| {
            *next += 1;
            (*next, line)
        })
        .collect()
}

/// Edits a text of functions: removes, adds, moves or renames a function, or removes, changes or adds lines.
fn edit_functions(functions: &mut Vec<Vec<Marked>>, state: &mut u64, next: &mut usize) {
    let at = draw_number(state, functions.len());
    match draw_number(state, 7) {
        0 if functions.len() > 2 => drop(functions.remove(at)),
        1 => functions.insert(at, write_function(state, next)),
        2 => {
            let moved = functions.remove(at);
            let to = draw_number(state, functions.len() + 1);
            functions.insert(to, moved);
        }
        3 => {
            *next += 1;
            functions[at][0] = (*next, format!("def g{next}"));
        }
        4 if functions[at].len() > 3 => {
            let first = 1 + draw_number(state, functions[at].len() - 2);
            let last = (first + draw_number(state, 3)).min(functions[at].len() - 2);
            functions[at].drain(first..=last);
        }
        5 => {
            let line = 1 + draw_number(state, functions[at].len() - 1);
            *next += 1;
            functions[at].insert(line, (*next, "  return None".to_owned()));
        }
        _ => {
            let line = draw_number(state, functions[at].len() - 1);
            *next += 1;
            functions[at][line] = (*next, format!(" changed{}", draw_number(state, 9)));
        }
    }
}

#[test]
fn random_edits_do_not_make_other_lines_fresh() {
    let (mut state, mut next, mut n_fresh, mut n_there) = (7, 0, 0, 0);
    let render = |lines: &[Marked]| lines.iter().map(|(_, line)| format!("{line}\n")).collect::<String>();
    for _ in 0..100 {
        let mut functions: Vec<_> = (0..6).map(|_| write_function(&mut state, &mut next)).collect();
        let was = functions.concat();
        for _ in 0..=draw_number(&mut state, 4) {
            edit_functions(&mut functions, &mut state, &mut next);
        }
        let (text, now) = (render(&was), functions.concat());
        let text_now = render(&now);
        let (all, definitions) = (LineHashes::new(&text_now), list_definitions(&text_now));
        for (line, (id, _)) in (1..).zip(&was).filter(|(_, (_, text))| !text.is_empty()) {
            n_there += usize::from(now.iter().any(|(other, _)| other == id));
            let found =
                all.find_anchored_lines((line, line), &describe_lines(&text, (line, line)), &definitions);
            let Some(found) = found.filter(|found| found.is_certain) else { continue };
            n_fresh += 1;
            let found_id = now[found.lines.0 as usize - 1].0;
            assert_eq!(found_id, *id, "line {line} of\n{text}is not {found:?} of\n{text_now}");
        }
    }
    assert!(n_fresh * 100 >= n_there * 95, "{n_fresh} of {n_there} unchanged lines are fresh");
}
