//! Declares the word pieces of a chunk and the form in which they are stored.

/// Bit that marks a piece of the head. The vocabulary has fewer pieces than this value.
const HEAD_BIT: u16 = 1 << 15;

/// The distinct word pieces of a chunk, as ascending ids in the vocabulary of the builtin model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordPieces {
    /// The pieces of all words of the chunk.
    pub text: Box<[u16]>,
    /// The pieces of the names and first lines of the chunk, a subset of `text`.
    pub head: Box<[u16]>,
}

impl WordPieces {
    /// Encodes the pieces as they are stored: two bytes each, little-endian, with the highest bit set for pieces of the head.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.text.iter().flat_map(|piece| (piece | self.head_bit(*piece)).to_le_bytes()).collect()
    }

    fn head_bit(&self, piece: u16) -> u16 {
        if self.head.binary_search(&piece).is_ok() { HEAD_BIT } else { 0 }
    }

    /// Decodes bytes that [`Self::to_bytes`] returned.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let (pairs, _) = bytes.as_chunks();
        let stored = pairs.iter().map(|pair| u16::from_le_bytes(*pair));
        Self {
            text: stored.clone().map(|piece| piece & !HEAD_BIT).collect(),
            head: stored.filter(|piece| piece & HEAD_BIT != 0).map(|piece| piece & !HEAD_BIT).collect(),
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
