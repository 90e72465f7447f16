//! Warns before the hits that nothing has the typed name or words.

use memod_base::types::suggest_names;
use memod_proto::{SearchMode, SearchResult};
use memod_terminal::text::escape_for_display;

use super::hits::shorten_query;

/// Returns a note, printed before the hits, that they are not what was asked for: nothing uses the name that was typed, or nothing has
/// it, and which names are nearest.
pub(super) fn leading_note(result: &SearchResult) -> Option<String> {
    if let Some(asked) = result.uses.as_ref().filter(|asked| asked.uses.is_empty()) {
        let but = if result.hits.is_empty() { "" } else { "; these hits only have its words" };
        return Some(format!("`{}` finds nothing{but}", asked.ask));
    }
    let (has_hits, has_similar) = (!result.hits.is_empty(), !result.similar_names.is_empty());
    let is_said = has_similar || has_hits && result.unknown_name.is_some();
    if is_said && result.corrected.is_none() && result.uses.is_none() {
        let lacks = match &result.unknown_name {
            Some(name) => format!("no indexed file, commit or memory has {name}"),
            None => format!("no definition is named {}", result.query),
        };
        let similar =
            suggest_names(&result.similar_names).map(|similar| format!(" ({similar})")).unwrap_or_default();
        let about_hits = match (has_hits, has_similar) {
            (false, _) => "",
            (true, false) => "; these hits are only near it",
            (true, true) => "; these hits are of the nearest name, or only near it",
        };
        return Some(escape_for_display(&format!("{lacks}{similar}{about_hits}")));
    }
    let are_near = result.hits.iter().any(|hit| hit.arms.knn.is_some());
    let has_word = result.hits.iter().any(|hit| hit.arms.has_query_word());
    (result.mode == SearchMode::Hybrid && are_near && !has_word && result.uses.is_none())
        .then(|| format!("no word of {} was found; these hits are near in meaning", shorten_query(result)))
}

#[cfg(test)]
mod tests {
    use memod_proto::Arms;

    use super::*;
    use crate::searching::hits::tests::build_hit;

    #[test]
    fn a_name_that_exists_nowhere_is_said_first() {
        let parts = Arms { bm25: Some(1), ..Arms::default() };
        let result = SearchResult {
            hits: vec![build_hit(parts)],
            fresh: true,
            unknown_name: Some("getUserFoo".to_owned()),
            ..SearchResult::default()
        };
        let said = "no indexed file, commit or memory has getUserFoo; these hits are only near it";
        assert_eq!(leading_note(&result).as_deref(), Some(said));
        let corrected = SearchResult { corrected: Some("getUserFood".to_owned()), ..result.clone() };
        assert_eq!(leading_note(&corrected), None); // the note on the correction says it
        let similar_names = vec!["getUserFood".to_owned()];
        let similar = SearchResult { similar_names, ..result.clone() };
        let check = |result: &SearchResult, lacks: &str, about_hits: &str| {
            let said = format!("{lacks} (did you mean getUserFood?){about_hits}");
            assert_eq!(leading_note(result), Some(said));
        };
        let lacks = "no indexed file, commit or memory has getUserFoo";
        check(&similar, lacks, "; these hits are of the nearest name, or only near it");
        check(&SearchResult { hits: Vec::new(), ..similar.clone() }, lacks, "");
        let member = SearchResult { unknown_name: None, query: "User.foo".to_owned(), ..similar };
        check(
            &member,
            "no definition is named User.foo",
            "; these hits are of the nearest name, or only near it",
        );
        assert_eq!(leading_note(&SearchResult { hits: Vec::new(), ..result }), None);
    }
}
