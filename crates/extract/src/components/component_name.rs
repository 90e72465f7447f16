//! Names the component that a file defines.

/// Endings between the name of a component and that of its format, which say where it is rendered.
const PLACES: [&str; 3] = [".client", ".server", ".global"];

/// Returns the name of the component in a file: the name of the file without its ending. The words of a name with hyphens are joined, as
/// templates write them: `user-card.vue` defines `UserCard`. An `index` has the name of its directory, if that is written as a
/// component.
pub(crate) fn component_name(path: &str) -> String {
    let (dir, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let stem = PLACES.iter().find_map(|place| stem.strip_suffix(place)).unwrap_or(stem);
    let dir = dir.rsplit('/').next().unwrap_or_default();
    if stem == "index" && dir.starts_with(|c: char| c.is_ascii_uppercase()) {
        return join_words(dir);
    }
    join_words(stem)
}

/// Returns a name without hyphens and dots, if it has any, each word with a capital letter; other names stay as they are.
pub(super) fn join_words(name: &str) -> String {
    let is_plain = !name.contains(['-', '.']) || !name.starts_with(|c: char| c.is_alphanumeric());
    if is_plain {
        return name.to_owned();
    }
    name.split(['-', '.']).map(capitalize_word).collect()
}

/// Returns a word with a capital letter.
pub(super) fn capitalize_word(word: &str) -> String {
    let mut rest = word.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
}

#[cfg(test)]
mod tests {
    use super::component_name;

    #[test]
    fn a_file_names_its_component() {
        let cases = [
            ("src/UserCard.vue", "UserCard"),
            ("src/user-card.vue", "UserCard"),
            ("a/Map.client.vue", "Map"),
            ("a/Button/index.vue", "Button"),
            ("pages/index.vue", "index"),
            ("routes/+page.svelte", "+page"),
            ("pages/[id].astro", "[id]"),
            ("Card.story.vue", "CardStory"),
            ("button.svelte", "button"),
            ("ünder-über.vue", "ÜnderÜber"),
            (".vue", ""),
        ];
        for (path, expected) in cases {
            assert_eq!(component_name(path), expected, "{path}");
        }
    }
}
