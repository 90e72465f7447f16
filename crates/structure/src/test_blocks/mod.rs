//! Finds the tests in the text of a file, each by the name that its runner prints.
//!
//! Pure: takes a path and lines. It reads only the lines on which tests begin, in the form that formatters write. A test ends before the next
//! line with the same or a smaller indent. In other languages it finds no tests.

mod fakes;
mod heads;
mod javascript_heads;
#[cfg(test)]
mod tests;
mod titles;

pub use self::fakes::{Replaced, list_fakes};
pub use self::heads::knows_tests_of;
use self::heads::{Head, read_heads};

/// A test, or a group of tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestBlock {
    /// The name under which the runner knows it: `TestParse/empty`, `parser > parses empty input`, `test_parse`.
    pub name: String,
    /// First and last line, 1-based, inclusive.
    pub lines: (u32, u32),
    /// Whether it runs, and not only groups others.
    pub is_test: bool,
    /// Whether one function is run with several inputs.
    pub is_parametrised: bool,
}

/// Returns the tests in a text, in the order of its lines; a group comes before what is in it.
pub fn list_test_blocks<'l>(path: &str, lines: impl Iterator<Item = &'l str>) -> Vec<TestBlock> {
    let lines: Vec<&str> = lines.collect();
    let mut blocks: Vec<TestBlock> = Vec::new();
    // The blocks around the current place, with their indents, and the byte where each ends on its first line.
    let mut open: Vec<(usize, Option<usize>, usize)> = Vec::new();
    for head in read_heads(path, &lines) {
        let Head { at, indent, bytes: (column, end), name, separator, is_test, is_parametrised } = head;
        open.retain(|(around, end, block)| {
            let (first, last) = blocks[*block].lines;
            match first as usize == at + 1 {
                true => end.is_none_or(|end| end > column),
                false => *around < indent && last as usize > at,
            }
        });
        let name = match open.last() {
            Some((_, _, around)) if !separator.is_empty() => {
                format!("{}{separator}{name}", blocks[*around].name)
            }
            _ => name,
        };
        open.push((indent, end, blocks.len()));
        let end = if end.is_some() { at } else { find_end(&lines, at, indent) };
        blocks.push(TestBlock { name, lines: (at as u32 + 1, end as u32 + 1), is_test, is_parametrised });
    }
    blocks
}

/// Returns the innermost test around a line, 1-based; a group if no test is around it.
pub fn find_block_at(blocks: &[TestBlock], line: u32) -> Option<&TestBlock> {
    let around = || blocks.iter().rev().filter(|block| block.lines.0 <= line && line <= block.lines.1);
    around().find(|block| block.is_test).or_else(|| around().next())
}

/// Returns the 0-based last line of what begins on the line `at`: the one that closes it at the same indent, or the last one before
/// the next line that is indented as little.
fn find_end(lines: &[&str], at: usize, indent: usize) -> usize {
    let mut last = at;
    for (nth, line) in lines.iter().enumerate().skip(at + 1) {
        let text = line.trim_start();
        if text.is_empty() {
            continue;
        }
        if line.len() - text.len() > indent {
            last = nth;
            continue;
        }
        if text.starts_with(['}', ')', ']']) {
            // The list of parameters may close before the body opens: `) {`, `])("name", () => {`.
            last = nth;
            if text.ends_with(['{', '(', ',', ':']) {
                continue;
            }
        } else if text == "{" {
            continue;
        }
        break;
    }
    last
}
