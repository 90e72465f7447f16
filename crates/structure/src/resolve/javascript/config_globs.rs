//! Matches paths with the patterns in `include` and `exclude` of a configuration of the TypeScript compiler.

/// Most steps of one comparison: a pattern with many `**` would take too long.
const MOST_STEPS: usize = 10_000;

/// Returns whether a path matches a pattern: `*` and `?` match inside of a name, `**` any directories, and a directory all of its
/// files.
pub(super) fn matches_pattern(pattern: &str, path: &str) -> bool {
    let last = pattern.rsplit('/').next().unwrap_or(pattern);
    let mut parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
    if !last.contains(['.', '*', '?']) {
        parts.extend(["**", "*"]);
    }
    let names: Vec<&str> = path.split('/').collect();
    let mut open = vec![(0, 0)];
    for _ in 0..MOST_STEPS {
        let Some((part, name)) = open.pop() else { return false };
        match (parts.get(part), names.get(name)) {
            (None, None) => return true,
            (Some(&"**"), at) => {
                open.push((part + 1, name));
                open.extend(at.map(|_| (part, name + 1)));
            }
            (Some(part_text), Some(name_text)) if matches_name(part_text, name_text) => {
                open.push((part + 1, name + 1));
            }
            _ => {}
        }
    }
    false
}

/// Returns whether a name matches a pattern without directories.
fn matches_name(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut in_name) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while in_name < name.len() {
        if pattern.get(at) == Some(&'*') {
            star = Some((at, in_name));
            at += 1;
        } else if pattern.get(at).is_some_and(|c| *c == '?' || *c == name[in_name]) {
            at += 1;
            in_name += 1;
        } else if let Some((star_at, taken)) = star {
            star = Some((star_at, taken + 1));
            at = star_at + 1;
            in_name = taken + 1;
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_the_compiler() {
        for (pattern, path, expected) in [
            ("src", "src/a/b.ts", true),
            ("src", "other/a.ts", false),
            ("**/*", "a.ts", true),
            ("src/**/*.ts", "src/a.ts", true),
            ("src/**/*.ts", "src/a/b.tsx", false),
            ("src/*", "src/a.ts", true),
            ("src/*", "src/a/b.ts", false),
            ("**/*.test.ts", "src/a.test.ts", true),
            ("a?/b*.ts", "ab/bcd.ts", true),
            ("vite.config.ts", "vite.config.ts", true),
        ] {
            assert_eq!(matches_pattern(pattern, path), expected, "{pattern} {path}");
        }
        let hostile = "**/".repeat(40) + "x.ts";
        assert!(!matches_pattern(&hostile, &"a/".repeat(200)));
    }
}
