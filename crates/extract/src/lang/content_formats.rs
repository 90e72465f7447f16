//! Chooses between formats with the same file extension by the content of the file.
//!
//! `.m` is Objective-C, MATLAB or Mathematica, `.ts` TypeScript or a translation of Qt, `.pl` Perl or Prolog, `.h` C or Objective-C.

use memod_base::types::file_name;

use super::{FileFormat, text_format_by_name};

/// Most lines that are read.
const MOST_LINES: usize = 500;

/// A check of one line: whether it is a line of some format.
type LineTest = fn(&str) -> bool;

/// Returns the format that a text has, given the format that its name shows.
pub(super) fn refine_format(path: &str, by_name: FileFormat, text: &str) -> FileFormat {
    let extension = file_name(path).rsplit_once('.').map_or("", |(_, extension)| extension);
    let named = match extension {
        _ if text.is_empty() => None,
        "m" => Some(format_of_m(text)),
        "ts" | "tsx" | "mm" if is_markup(text) => Some("xml"),
        "pl" if is_prolog(text) => Some("prolog"),
        "h" if has_line(text, is_objective_c) => Some("objective-c"),
        _ => None,
    };
    let named = named.and_then(text_format_by_name).map(|format| FileFormat::Text(Some(format.name)));
    named.unwrap_or(by_name)
}

fn format_of_m(text: &str) -> &'static str {
    let tests: [(&str, LineTest); 4] = [
        ("objective-c", is_objective_c),
        ("mathematica", is_mathematica),
        ("matlab", is_matlab),
        ("objective-c", |line| line.starts_with("#include") || line.starts_with("//")),
    ];
    tests.iter().find(|(_, is_it)| has_line(text, *is_it)).map_or("matlab", |(name, _)| name)
}

fn has_line(text: &str, is_it: LineTest) -> bool {
    text.lines().take(MOST_LINES).any(|line| is_it(line.trim()))
}

fn is_objective_c(line: &str) -> bool {
    ["@interface ", "@implementation ", "@protocol ", "@class ", "@import ", "#import "]
        .iter()
        .any(|start| line.starts_with(start))
}

fn is_mathematica(line: &str) -> bool {
    line.starts_with("(*")
        || ["BeginPackage[", "Begin[", "Needs[", "Get[", "Module[", "Block["]
            .iter()
            .any(|start| line.contains(start))
        || line.split_once(":=").is_some_and(|(left, _)| left.contains("_]") || left.contains("_,"))
}

fn is_matlab(line: &str) -> bool {
    let first = line.split([' ', '(']).next().unwrap_or_default();
    line.starts_with('%')
        || line == "end"
        || matches!(first, "function" | "classdef" | "clear" | "close" | "clc")
}

fn is_markup(text: &str) -> bool {
    let start = text.trim_start_matches('\u{feff}').trim_start();
    ["<?xml", "<!DOCTYPE", "<TS ", "<TS>", "<map ", "<tileset"].iter().any(|mark| start.starts_with(mark))
}

/// Returns whether a text has clauses of Prolog and no statement of Perl.
fn is_prolog(text: &str) -> bool {
    let is_clause: LineTest = |line| {
        let head = line.split_once(":-").map(|(head, _)| head.trim_end());
        head.is_some_and(|head| head.is_empty() || head.ends_with(')') || head.chars().all(is_atom))
            || line.ends_with(").")
                && line.starts_with(|c: char| c.is_ascii_lowercase())
                && line.contains('(')
    };
    let is_perl: LineTest = |line| {
        line.starts_with("#!") && line.contains("perl")
            || ["use ", "my ", "our ", "sub ", "package ", "require ", "print "]
                .iter()
                .any(|start| line.starts_with(start))
            || line.starts_with(['$', '@']) && line.ends_with(';')
    };
    has_line(text, is_clause) && !has_line(text, is_perl)
}

fn is_atom(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use crate::format_name;

    #[test]
    fn content_decides_between_formats_of_one_extension() {
        let cases = [
            ("a.m", "#import \"A.h\"\n@implementation A\n@end\n", "objective-c"),
            ("a.m", "#include <stdio.h>\nint main(void) { return 0; }\n", "objective-c"),
            ("a.m", "% Adds two numbers.\nfunction c = add(a, b)\n  c = a + b;\nend\n", "matlab"),
            ("a.m", "x = linspace(0, 1);\nplot(x);\n", "matlab"),
            ("a.m", "(* ::Package:: *)\nBeginPackage[\"A`\"]\nf[x_] := x + 1\n", "mathematica"),
            ("a.m", "f[x_, y_] := Module[{z}, z = x + y]\n", "mathematica"),
            ("de.ts", "<?xml version=\"1.0\"?>\n<!DOCTYPE TS>\n<TS version=\"2.1\"></TS>\n", "xml"),
            ("de.ts", "<!DOCTYPE TS><TS>\n</TS>\n", "xml"),
            ("a.ts", "const a = <T>(x: T) => x;\n", "typescript"),
            ("tiles.tsx", "<?xml version=\"1.0\"?>\n<tileset></tileset>\n", "xml"),
            ("a.tsx", "export const A = () => <b />;\n", "tsx"),
            ("a.mm", "<map version=\"1.0.1\">\n</map>\n", "xml"),
            ("a.mm", "#import \"A.h\"\n", "objective-c"),
            ("a.pl", "#!/usr/bin/perl\nuse strict;\nmy $x = f(1);\n", "perl"),
            ("a.pl", ":- module(family, [parent/2]).\nparent(anna, ben).\n", "prolog"),
            ("a.pl", "ancestor(X, Y) :- parent(X, Y).\n", "prolog"),
            ("a.pl", "$x = 1;\nprint $x;\n", "perl"),
            ("a.h", "#import <Foundation/Foundation.h>\n@interface A : NSObject\n@end\n", "objective-c"),
            ("a.h", "@class B;\nextern B *b;\n", "objective-c"),
            ("a.h", "/// @interface of this file\n#include \"b.h\"\nint f(void);\n", "c"),
        ];
        for (path, text, expected) in cases {
            assert_eq!(format_name(path, text), expected, "{path}\n{text}");
        }
    }
}
