//! Mends what a grammar cannot read in a copy of a text that has the same length.
//!
//! A copy is only made of a text with syntax errors, and only used if its tree has fewer of them. Every span of its tree is one of the
//! text itself.

use std::ops::Range;

use tree_sitter::Tree;

/// Returns a copy of `text` in which what is known to stop the grammar of `language` is replaced by as many bytes; `None` if there is
/// no such thing.
pub(super) fn mend_text(language: &str, text: &str) -> Option<String> {
    let mut copy = text.as_bytes().to_vec();
    match language {
        "kotlin" => close_last_statements(&mut copy),
        "c-sharp" => blank_unbalanced_branches(&mut copy),
        _ => return None,
    }
    // Only ASCII and whole lines were replaced.
    String::from_utf8(copy).ok().filter(|copy| copy != text)
}

/// Returns the number of bytes that a tree could not place, and the number of tokens that it misses.
pub(super) fn measure_errors(tree: &Tree) -> (usize, usize) {
    let (mut n_bytes, mut n_missing) = (0, 0);
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.is_error() {
            n_bytes += node.byte_range().len();
        } else if node.is_missing() {
            n_missing += 1;
        } else if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return (n_bytes, n_missing);
            }
        }
    }
}

/// Writes `;` over the blank before each `}` that follows a statement on the same line: the grammar of Kotlin wants a statement to end
/// with `;` or a line end, as in `object A { val x = 1 }`. Texts and comments keep their blanks.
fn close_last_statements(copy: &mut [u8]) {
    let (mut at, mut last) = (0, b'\n');
    while at < copy.len() {
        let rest = &copy[at..];
        let n_skipped = match rest[0] {
            b'"' if rest.starts_with(b"\"\"\"") => find_end(rest, 3, b"\"\"\""),
            quote @ (b'"' | b'\'' | b'`') => quoted_length(rest, quote),
            b'/' if rest.starts_with(b"//") => find_end(rest, 2, b"\n") - 1,
            b'/' if rest.starts_with(b"/*") => find_end(rest, 2, b"*/"),
            _ => 0,
        };
        if n_skipped > 0 {
            (at, last) = (at + n_skipped, if rest[0] == b'/' { last } else { b'"' });
            continue;
        }
        // After these bytes there is no statement that could end.
        let is_after_statement = !matches!(last, b'\n' | b'{' | b'(' | b'[' | b',' | b';' | b'>');
        if copy[at] == b'}' && is_after_statement && at > 0 && copy[at - 1] == b' ' {
            copy[at - 1] = b';';
        }
        if !matches!(copy[at], b' ' | b'\t' | b'\r') {
            last = copy[at];
        }
        at += 1;
    }
}

/// Returns the length of a text up to the end of `mark`, which is looked for from the byte `from` on; that of the whole text, and 1 for
/// a line end that it lacks, if there is no mark.
fn find_end(text: &[u8], from: usize, mark: &[u8]) -> usize {
    let found = text[from..].windows(mark.len()).position(|window| window == mark);
    found.map_or(text.len() + usize::from(mark == b"\n"), |found| from + found + mark.len())
}

/// Returns the length of a quoted text, which ends with its line at the latest.
fn quoted_length(text: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match *byte {
            b'\\' if quote != b'`' => at += 1,
            b'\n' => return at,
            byte if byte == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

/// Maximum depth of conditionals in each other. Each level reads its text once more.
const MOST_CONDITIONALS: usize = 64;

/// Blanks the directives and all branches but the first of each conditional with a branch that opens or closes a block of another.
fn blank_unbalanced_branches(copy: &mut [u8]) {
    // The lines of the directives of each open conditional.
    let mut open: Vec<Vec<Range<usize>>> = Vec::new();
    let mut at = 0;
    while at < copy.len() {
        let line = at..at + find_end(&copy[at..], 0, b"\n").min(copy.len() - at);
        at = line.end;
        let directive = copy[line.clone()].trim_ascii_start();
        let starts = |word: &[u8]| {
            directive.strip_prefix(b"#").is_some_and(|rest| rest.trim_ascii_start().starts_with(word))
        };
        if starts(b"if") {
            if open.len() == MOST_CONDITIONALS {
                return;
            }
            open.push(vec![line]);
        } else if starts(b"el") {
            open.last_mut().into_iter().for_each(|directives| directives.push(line.clone()));
        } else if starts(b"endif") {
            let Some(mut directives) = open.pop() else { continue };
            directives.push(line);
            let is_unbalanced =
                directives.windows(2).any(|pair| count_open(&copy[pair[0].end..pair[1].start]) != 0);
            if is_unbalanced {
                let (first, second, last) =
                    (&directives[0], &directives[1], &directives[directives.len() - 1]);
                for span in [first.clone(), second.start..last.end] {
                    copy[span]
                        .iter_mut()
                        .filter(|byte| !matches!(**byte, b'\n' | b'\r'))
                        .for_each(|byte| *byte = b' ');
                }
            }
        }
    }
}

/// Returns how many more `{` than `}` a text has.
fn count_open(text: &[u8]) -> i64 {
    text.iter()
        .map(|byte| match byte {
            b'{' => 1,
            b'}' => -1,
            _ => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mend_or_keep(language: &str, text: &str) -> String {
        mend_text(language, text).unwrap_or_else(|| "as it was".to_owned())
    }

    #[test]
    fn the_last_statement_of_a_line_of_kotlin_is_closed() {
        for (text, mended) in [
            ("class A { object B { val x = 1 } }", "class A { object B { val x = 1;};}"),
            ("val f = { it -> it } // a }", "val f = { it -> it;} // a }"),
            ("val s = \"${ a } \\\" }\" + '}' /* b } */ }", "val s = \"${ a } \\\" }\" + '}' /* b } */;}"),
            ("val s = \"\"\"\n a } \"\"\" }", "val s = \"\"\"\n a } \"\"\";}"),
            ("class A {\n  val x = 1\n }\nval f = { }\nval g = {a}\nval h = { x -> }", "as it was"),
            ("// a }", "as it was"),
        ] {
            assert_eq!(mend_or_keep("kotlin", text), mended, "{text}");
        }
        assert_eq!(mend_or_keep("java", "class A { int x = 1 }"), "as it was");
    }

    #[test]
    fn branches_of_c_sharp_that_share_a_block_are_reduced_to_the_first() {
        let text = "class A {\n#if X\n  void M() {\n#else\n  void M(int é) {\n#endif\n  }\n}\n";
        let blank = |line: &str| " ".repeat(line.len());
        let rest = [blank("#else"), blank("  void M(int é) {"), blank("#endif")].join("\n");
        let mended = format!("class A {{\n{}\n  void M() {{\n{rest}\n  }}\n}}\n", blank("#if X"));
        assert_eq!(mend_or_keep("c-sharp", text), mended);
        assert_eq!(
            mend_or_keep("c-sharp", "#if X\nclass A { }\n#else\nclass B { }\n#endif\n#endif\n"),
            "as it was"
        );
    }
}
