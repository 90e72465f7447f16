//! Removes from texts what must not leave the machine.

use memod_text::redact::REDACTED;
use memod_text::redact::redact;
use memod_text::secrets::{Syntax, find_secret_spans};

use super::without_private;

/// A text that may leave the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutgoingText {
    /// The text.
    pub text: String,
    /// Number of credentials and private parts that were removed.
    pub n_cut: usize,
}

/// Returns a text without private parts, credentials, control characters and `key`, the key of the server.
pub fn clean_outgoing_text(text: &str, key: Option<&str>) -> OutgoingText {
    // Control characters are removed first, because one within a credential would hide it.
    let plain: String = text.chars().filter(|c| !is_control_or_invisible(*c)).collect();
    let (mut text, mut n_cut) = without_private(&plain);
    if let Some(key) = key.filter(|key| !key.is_empty()) {
        n_cut += text.matches(key).count();
        text = text.replace(key, REDACTED);
    }
    n_cut += find_secret_spans(&text, Syntax::Prose).len();
    OutgoingText { text: redact(&text, Syntax::Prose).into_owned(), n_cut }
}

impl OutgoingText {
    /// Shortens the text to `most_bytes`. Only a text without credentials may be shortened, because half a credential is not
    /// recognised.
    pub fn truncated_to(mut self, most_bytes: usize) -> Self {
        self.text.truncate(self.text.floor_char_boundary(most_bytes));
        self
    }

    /// Appends another text.
    pub fn append(&mut self, other: &Self) {
        self.text.push_str(&other.text);
        self.n_cut += other.n_cut;
    }
}

/// Returns whether a character is a control character other than LF and tab, or is invisible, such as a mark that changes the
/// direction of text.
pub fn is_control_or_invisible(c: char) -> bool {
    let is_break = matches!(c, '\n' | '\t');
    let is_invisible = matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}');
    (c.is_control() && !is_break) || is_invisible
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_secret_goes_out() {
        let token = ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
        let text = format!("a <private>b</private> {token} own-key\u{202e}\u{7} c\nd");
        let sent = clean_outgoing_text(&text, Some("own-key"));
        assert_eq!(sent.text, "a [REDACTED] [REDACTED] [REDACTED] c\nd");
        assert_eq!(sent.n_cut, 3);
        // An invisible character does not hide one.
        let hidden = clean_outgoing_text(&token.replacen('1', "\u{200b}1", 1), None);
        assert_eq!(hidden.text, "[REDACTED]");
        assert_eq!(
            clean_outgoing_text("plain", Some("")),
            OutgoingText { text: "plain".to_owned(), n_cut: 0 }
        );
        assert_eq!(clean_outgoing_text("éa <private>b</private>", None).truncated_to(2).text, "é");
    }
}
