//! The word pieces of a chunk, and how they are stored.

/// Marks a piece that is in the head. The vocabulary has fewer pieces than this.
const IN_HEAD: u16 = 1 << 15;

/// The pieces of the words of a chunk in the vocabulary of the builtin model, distinct and ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordPieces {
    /// Of all its words.
    pub text: Box<[u16]>,
    /// Of its names and first lines: a part of `text`.
    pub head: Box<[u16]>,
}

impl WordPieces {
    /// Returns them as they are stored: two bytes each, little-endian, the highest bit set in those of the head.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.text.iter().flat_map(|piece| (piece | self.head_mark(*piece)).to_le_bytes()).collect()
    }

    fn head_mark(&self, piece: u16) -> u16 {
        if self.head.binary_search(&piece).is_ok() { IN_HEAD } else { 0 }
    }

    /// Reads bytes that [`Self::to_bytes`] returned.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let (pairs, _) = bytes.as_chunks();
        let stored = pairs.iter().map(|pair| u16::from_le_bytes(*pair));
        Self {
            text: stored.clone().map(|piece| piece & !IN_HEAD).collect(),
            head: stored.filter(|piece| piece & IN_HEAD != 0).map(|piece| piece & !IN_HEAD).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_read_again() {
        for (text, head) in [(vec![], vec![]), (vec![0, 7, 30_499], vec![7]), (vec![1], vec![1])] {
            let pieces = WordPieces { text: text.into(), head: head.into() };
            let bytes = pieces.to_bytes();
            assert_eq!((bytes.len(), WordPieces::from_bytes(&bytes)), (2 * pieces.text.len(), pieces));
        }
        assert_eq!(WordPieces::from_bytes(&[7]), WordPieces::default(), "half a piece is none");
    }
}
