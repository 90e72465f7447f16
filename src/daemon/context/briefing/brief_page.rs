//! Fits the sections of a brief into a budget.
//!
//! A token is counted as four characters, as for the map.

use memod_base::types::CHARS_PER_TOKEN;
use memod_proto::BriefSection;

/// A section of a brief: a title and lines.
pub(super) struct BriefList {
    name: &'static str,
    title: &'static str,
    /// How full the page may be after this section, percent of the budget. The section may use what earlier ones left.
    percent: usize,
    lines: Vec<String>,
    /// Total number of items, including those without a line.
    total: usize,
}

impl BriefList {
    pub(super) fn new<T>(
        name: &'static str,
        title: &'static str,
        percent: usize,
        rows: &[T],
        line: fn(&T) -> String,
        total: usize,
    ) -> Self {
        Self { name, title, percent, lines: rows.iter().map(line).collect(), total }
    }
}

/// A text that never exceeds its budget.
pub(super) struct BriefPage {
    text: String,
    n_chars: usize,
    budget_chars: usize,
    /// Characters that a section may use beyond its share.
    spare_chars: usize,
    /// Characters reserved for the last section.
    reserved_chars: usize,
    sections: Vec<BriefSection>,
}

impl BriefPage {
    pub(super) fn new(budget_tokens: usize) -> Self {
        let budget_chars = budget_tokens.saturating_mul(CHARS_PER_TOKEN);
        Self {
            text: String::new(),
            n_chars: 0,
            budget_chars,
            spare_chars: 0,
            reserved_chars: 0,
            sections: Vec::new(),
        }
    }

    /// Returns a page that is filled again, where sections may also use the space that the last section with the text `last`
    /// leaves.
    pub(super) fn rebuild_with_spare_space(&self, lists: &[BriefList], last: &str) -> Self {
        let kept = if last.is_empty() { 0 } else { last.chars().count() + 1 };
        let spare = self.budget_chars.saturating_sub(self.n_chars + kept);
        let (text, sections) = Default::default();
        let mut page = Self { text, n_chars: 0, spare_chars: spare, reserved_chars: kept, sections, ..*self };
        page.add_sections(lists);
        page
    }

    /// Adds the lines of each list that fit. A line that does not fit is skipped, and a shorter one after it may fit.
    pub(super) fn add_sections(&mut self, lists: &[BriefList]) {
        for list in lists {
            let BriefList { name, title, total, .. } = list;
            let longest = format!("\n## {title} ({total} of {total})\n");
            let mut room = self.chars_left(list.percent).saturating_sub(longest.chars().count());
            let mut kept = String::new();
            let mut n_kept = 0;
            for line in &list.lines {
                let n_chars = line.chars().count() + 1;
                if n_chars <= room {
                    room -= n_chars;
                    kept += &format!("{line}\n");
                    n_kept += 1;
                }
            }
            let of_all = if n_kept < *total { format!(" ({n_kept} of {total})") } else { String::new() };
            self.add_block(name, &format!("## {title}{of_all}\n"), &kept, (n_kept, *total));
        }
    }

    /// Adds a section with a heading and a text. Does nothing if the text is empty or does not fit into the budget.
    pub(super) fn add_block(
        &mut self,
        name: &str,
        heading: &str,
        text: &str,
        (shown, total): (usize, usize),
    ) {
        let gap = if self.text.is_empty() { "" } else { "\n" };
        let block = format!("{gap}{heading}{text}");
        let n_chars = block.chars().count();
        if text.is_empty() || self.n_chars + n_chars > self.budget_chars {
            return;
        }
        self.text += &block;
        self.n_chars += n_chars;
        self.sections.push(BriefSection { name: name.to_owned(), shown, total });
    }

    /// Returns the number of tokens left below a heading.
    pub(super) fn tokens_left(&self, heading: &str) -> usize {
        let left = self.budget_chars.saturating_sub(self.n_chars);
        left.saturating_sub(heading.chars().count() + 1) / CHARS_PER_TOKEN
    }

    fn chars_left(&self, percent: usize) -> usize {
        let share = self.budget_chars / 100 * percent + self.budget_chars % 100 * percent / 100;
        let end =
            share.saturating_add(self.spare_chars).min(self.budget_chars.saturating_sub(self.reserved_chars));
        end.saturating_sub(self.n_chars)
    }

    /// Returns the text, the number of its tokens, and its sections.
    pub(super) fn into_text_and_sections(self) -> (String, usize, Vec<BriefSection>) {
        (self.text, self.n_chars.div_ceil(CHARS_PER_TOKEN), self.sections)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(name: &'static str, percent: usize, lines: &[String], total: usize) -> BriefList {
        BriefList::new(name, name, percent, lines, String::clone, total)
    }

    fn sections(page: BriefPage) -> Vec<usize> {
        page.into_text_and_sections().2.iter().map(|section| section.shown).collect()
    }

    #[test]
    fn no_page_exceeds_its_budget() {
        for budget in (0..300).chain([1_000]) {
            for (n_lines, n_last) in [(0, 0), (1, 900), (5, 30), (60, 0), (60, 100), (60, 5_000)] {
                let lines: Vec<_> =
                    (0..n_lines).map(|nth| format!("- {}", "é".repeat(nth * 7 % 50))).collect();
                let lists = [list("memories", 40, &lines, n_lines), list("changes", 70, &lines, n_lines + 3)];
                let mut page = BriefPage::new(budget);
                page.add_sections(&lists);
                let last = "x".repeat(n_last.min(page.tokens_left("## Map\n") * CHARS_PER_TOKEN));
                let mut page = page.rebuild_with_spare_space(&lists, &format!("## Map\n{last}"));
                page.add_block("map", "## Map\n", &last, (1, 1));
                let (text, tokens, sections) = page.into_text_and_sections();
                assert_eq!(tokens, text.chars().count().div_ceil(CHARS_PER_TOKEN));
                assert!(tokens <= budget, "{tokens} of {budget}: {text}");
                assert!(last.is_empty() || sections.last().is_some_and(|last| last.name == "map"), "{text}");
            }
        }
        assert_eq!(BriefPage::new(usize::MAX).tokens_left(""), (usize::MAX - 1) / CHARS_PER_TOKEN);
    }

    #[test]
    fn a_section_has_its_share_and_what_others_leave() {
        let long: Vec<_> = (0..100).map(|nth| format!("- line {nth:02}")).collect();
        let lists =
            |first: &[String]| [list("memories", 40, first, first.len()), list("changes", 70, &long, 100)];
        let mut page = BriefPage::new(200);
        page.add_sections(&lists(&long));
        let again = page.rebuild_with_spare_space(&lists(&long), "");
        assert_eq!((sections(page), sections(again)), (vec![29, 22], vec![53, 22]));
        let mut page = BriefPage::new(200);
        page.add_sections(&lists(&[]));
        assert_eq!(sections(page), [53], "a section without lines has no heading, and its share goes on");
    }

    #[test]
    fn headings_say_what_was_left_out() {
        let mut page = BriefPage::new(14);
        let lines = ["- too long for this page, by far and more".to_owned(), "- short".to_owned()];
        page.add_sections(&[list("Memories", 100, &lines, 2)]);
        assert_eq!(page.into_text_and_sections().0, "## Memories (1 of 2)\n- short\n");
    }
}
