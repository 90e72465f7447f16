//! Chooses the form of words for a number of things.

/// Returns the form of a noun that fits a number: `file` for 1, `files` for every other number.
pub fn noun_form<'a>(number: u64, one: &'a str, many: &'a str) -> &'a str {
    if number == 1 { one } else { many }
}

/// Returns the question whether one of several names was meant; `None` if there are none.
pub fn suggest_names(names: &[String]) -> Option<String> {
    match names {
        [] => None,
        [one] => Some(format!("did you mean {one}?")),
        several => Some(format!("did you mean one of {}?", several.join(", "))),
    }
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
