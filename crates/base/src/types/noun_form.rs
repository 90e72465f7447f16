//! Chooses the form of a noun after a number.

/// Returns the form of a noun that fits a number: `file` for 1, `files` for every other number.
pub fn noun_form<'a>(number: u64, one: &'a str, many: &'a str) -> &'a str {
    if number == 1 { one } else { many }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        let forms = [0, 1, 2, 21].map(|number| noun_form(number, "file", "files"));
        assert_eq!(forms, ["files", "file", "files", "files"]);
    }
}
