//! What of each section fits onto a page?
//!
//! Pure. Tokens are counted as for the map: four characters each. Nothing but what is pushed here is printed.

use crate::proto::BriefSection;

/// Characters of a token, as in `map`.
const TOKEN_CHARS: usize = 4;

/// A text that never exceeds its budget.
pub(super) struct Page {
    text: String,
    n_chars: usize,
    budget_chars: usize,
    sections: Vec<BriefSection>,
}

impl Page {
    pub(super) fn new(budget_tokens: usize) -> Self {
        let budget_chars = budget_tokens.saturating_mul(TOKEN_CHARS);
        Self { text: String::new(), n_chars: 0, budget_chars, sections: Vec::new() }
    }

    /// Adds the lines that fit until the page is full to `percent`: what earlier sections left is used too.
    ///
    /// What does not fit is left out and something shorter after it tried. `total` is how many there are in all.
    pub(super) fn lines(&mut self, name: &str, title: &str, percent: usize, lines: &[String], total: usize) {
        let longest = format!("\n## {title} ({total} of {total})\n");
        let mut room = self.room(percent).saturating_sub(longest.chars().count());
        let mut kept = String::new();
        let mut n_kept = 0;
        for line in lines {
            let n_chars = line.chars().count() + 1;
            if n_chars <= room {
                room -= n_chars;
                kept += &format!("{line}\n");
                n_kept += 1;
            }
        }
        let of_all = if n_kept < total { format!(" ({n_kept} of {total})") } else { String::new() };
        self.block(name, &format!("## {title}{of_all}\n"), &kept, (n_kept, total));
    }

    /// Adds a text that was made to fit into [`Self::tokens`]; nothing when it is empty.
    pub(super) fn block(&mut self, name: &str, heading: &str, text: &str, (shown, total): (usize, usize)) {
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

    /// Returns how many tokens are left below a heading until the page is full to `percent`.
    pub(super) fn tokens(&self, heading: &str, percent: usize) -> usize {
        self.room(percent).saturating_sub(heading.chars().count() + 1) / TOKEN_CHARS
    }

    fn room(&self, percent: usize) -> usize {
        let full = u128::try_from(self.budget_chars).unwrap_or(u128::MAX) * percent as u128 / 100;
        usize::try_from(full).unwrap_or(usize::MAX).saturating_sub(self.n_chars)
    }

    /// Returns the text, its tokens, and what is in it.
    pub(super) fn finish(self) -> (String, usize, Vec<BriefSection>) {
        (self.text, self.n_chars.div_ceil(TOKEN_CHARS), self.sections)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(budget: usize, n_lines: usize) -> (String, usize, Vec<BriefSection>) {
        let lines: Vec<_> = (0..n_lines).map(|nth| format!("- {}", "é".repeat(nth * 7 % 50))).collect();
        let mut page = Page::new(budget);
        page.lines("memories", "Memories", 40, &lines, n_lines);
        page.lines("changes", "Changes", 70, &lines, n_lines + 3);
        let room = page.tokens("## Map\n", 100);
        page.block("map", "## Map\n", &"x".repeat(room * TOKEN_CHARS), (1, 1));
        page.finish()
    }

    #[test]
    fn no_page_exceeds_its_budget() {
        for budget in (0..300).chain([1_000, usize::MAX / 4]) {
            if budget > 1_000 {
                assert_eq!(Page::new(usize::MAX).tokens("", 100), usize::MAX / TOKEN_CHARS);
                continue;
            }
            for n_lines in [0, 1, 5, 60] {
                let (text, tokens, _) = filled(budget, n_lines);
                assert_eq!(tokens, text.chars().count().div_ceil(TOKEN_CHARS));
                assert!(tokens <= budget, "{tokens} of {budget}: {text}");
            }
        }
    }

    #[test]
    fn a_section_has_its_share_and_what_is_left_of_those_before() {
        let long: Vec<_> = (0..100).map(|nth| format!("- line {nth:02}")).collect();
        let shown = |first: &[String]| {
            let mut page = Page::new(200);
            page.lines("memories", "Memories", 40, first, first.len());
            page.lines("changes", "Changes", 70, &long, 100);
            page.finish().2.iter().map(|section| section.shown).collect::<Vec<_>>()
        };
        assert_eq!(shown(&long), [29, 22]);
        assert_eq!(shown(&[]), [53], "a section without lines has no heading, and its share goes on");
    }

    #[test]
    fn headings_say_what_was_left_out() {
        let mut page = Page::new(14);
        let lines = ["- too long for this page, by far and more".to_owned(), "- short".to_owned()];
        page.lines("memories", "Memories", 100, &lines, 2);
        assert_eq!(page.finish().0, "## Memories (1 of 2)\n- short\n");
    }
}
