//! Encodes lists of postings: the chunks that have a word, its counts and its places. Pure.
//!
//! Numbers are written seven bits a byte, the lowest first (LEB128). A posting is the distance from the former chunk, doubled;
//! an odd number means that a byte with the count follows, which otherwise is one. Only phrases need the places in the chunk, so
//! they are stored separately: for each posting the distances between places, and a zero byte, with which no other number ends.

/// Most postings of a row.
pub(super) const ROW_POSTINGS: usize = 1_024;

/// Number of bits of a place that count the words before it in its field; the bits above are the number of the field.
const OFFSET_BITS: u32 = 28;

/// Fields of a chunk, in the order of their places. An occurrence in the field with the number n counts 2 to the power of n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChunkField {
    Body,
    Title,
    Symbol,
}

/// Returns the place of a word in a chunk, given the number of words before it in the field.
pub(super) fn encode_place(field: ChunkField, offset: usize) -> u32 {
    (field as u32) << OFFSET_BITS | (offset as u32).min((1 << OFFSET_BITS) - 1)
}

/// Returns the number of words before a place in its field.
pub(super) fn place_offset(place: u32) -> u32 {
    place & ((1 << OFFSET_BITS) - 1)
}

/// Returns the weight of an occurrence at a place, which depends on the field.
pub(super) fn place_weight(place: u32) -> u32 {
    1 << (place >> OFFSET_BITS)
}

/// Up to [`ROW_POSTINGS`] encoded postings, with their places.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PostingRow {
    pub(super) postings: Vec<u8>,
    pub(super) places: Vec<u8>,
}

/// Encodes the posting list of one word.
#[derive(Debug, Default)]
pub(super) struct ListWriter {
    rows: Vec<PostingRow>,
    n_in_row: usize,
    /// The last chunk of the row.
    last_id: i64,
    /// The chunk whose places are being written, and their total weight; 0 if there is none.
    open: (i64, u32),
    next_place: u32,
}

impl ListWriter {
    /// Adds an occurrence of the word. Call this in ascending order of chunks, and of places in each chunk.
    pub(super) fn add_occurrence(&mut self, id: i64, place: u32) {
        if self.open.1 == 0 || self.open.0 != id {
            self.end_posting();
            self.begin_row_if_full();
            (self.open, self.next_place) = ((id, 0), 0);
        }
        let row = self.rows.last_mut().expect("it was begun with the posting");
        write_varint(&mut row.places, u64::from(place - self.next_place) + 1);
        self.next_place = place + 1;
        self.open.1 += place_weight(place);
    }

    /// Adds those postings of a row of another list for whose chunks `wanted` returns true.
    pub(super) fn append_row(&mut self, postings: &[u8], places: &[u8], wanted: impl Fn(i64) -> bool) {
        let mut places = PlaceReader(places);
        for (id, count) in PostingReader::new(postings) {
            let of_posting = places.take_encoded_places();
            if wanted(id) {
                self.begin_row_if_full();
                self.rows.last_mut().expect("it was begun").places.extend_from_slice(of_posting);
                self.append_posting(id, count);
            }
        }
    }

    /// Returns the rows of the list.
    pub(super) fn into_rows(mut self) -> Vec<PostingRow> {
        self.end_posting();
        self.rows
    }

    fn end_posting(&mut self) {
        let (id, count) = std::mem::take(&mut self.open);
        if count > 0 {
            self.rows.last_mut().expect("it has places").places.push(0);
            self.append_posting(id, u8::try_from(count).unwrap_or(u8::MAX));
        }
    }

    fn begin_row_if_full(&mut self) {
        if self.rows.is_empty() || self.n_in_row == ROW_POSTINGS {
            self.rows.push(PostingRow::default());
            (self.n_in_row, self.last_id) = (0, 0);
        }
    }

    fn append_posting(&mut self, id: i64, count: u8) {
        let postings = &mut self.rows.last_mut().expect("it was begun").postings;
        write_varint(postings, ((id - self.last_id) as u64) << 1 | u64::from(count != 1));
        if count != 1 {
            postings.push(count);
        }
        self.last_id = id;
        self.n_in_row += 1;
    }
}

/// Reads the postings of a row: chunk and count.
pub(super) struct PostingReader<'a> {
    rest: &'a [u8],
    id: i64,
}

impl<'a> PostingReader<'a> {
    pub(super) fn new(postings: &'a [u8]) -> Self {
        Self { rest: postings, id: 0 }
    }
}

impl Iterator for PostingReader<'_> {
    type Item = (i64, u8);

    #[inline]
    fn next(&mut self) -> Option<(i64, u8)> {
        let number = read_varint(&mut self.rest)?;
        self.id = self.id.wrapping_add((number >> 1) as i64); // damaged bytes may give any number
        if number & 1 == 0 {
            return Some((self.id, 1));
        }
        let (count, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some((self.id, *count))
    }
}

/// Reads the places of a row, posting by posting.
pub(super) struct PlaceReader<'a>(pub(super) &'a [u8]);

impl<'a> PlaceReader<'a> {
    /// Skips a posting, and returns its encoded places.
    pub(super) fn take_encoded_places(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|byte| *byte == 0).map_or(self.0.len(), |zero| zero + 1);
        let (places, rest) = self.0.split_at(end);
        self.0 = rest;
        places
    }

    /// Calls `visit` with each place of the next posting.
    pub(super) fn visit_next_posting(&mut self, mut visit: impl FnMut(u32)) {
        let mut next = 0;
        while let Some(distance @ 1..) = read_varint(&mut self.0) {
            next = distance.wrapping_add(u64::from(next)) as u32;
            visit(next.wrapping_sub(1));
        }
    }
}

/// Appends a number in the encoding of this module.
pub(super) fn write_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Removes an encoded number from the start of `bytes`, and returns it; `None` if there is none.
#[inline]
pub(super) fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for (nth, byte) in bytes.iter().enumerate().take(9) {
        number |= u64::from(byte & 0x7f) << (7 * nth);
        if byte & 0x80 == 0 {
            *bytes = &bytes[nth + 1..];
            return Some(number);
        }
    }
    *bytes = &[];
    None
}

#[cfg(test)]
mod tests {
    use memod_testing::RandomNumbers;

    use super::*;

    type Decoded = Vec<(i64, u8, Vec<u32>)>;

    fn decoded(rows: &[PostingRow]) -> Decoded {
        let mut all = Vec::new();
        for row in rows {
            let mut places = PlaceReader(&row.places);
            for (id, count) in PostingReader::new(&row.postings) {
                let mut of_posting = Vec::new();
                places.visit_next_posting(|place| of_posting.push(place));
                all.push((id, count, of_posting));
            }
            assert_eq!(places.0, [0_u8; 0]);
        }
        all
    }

    fn random(random: &mut RandomNumbers, n_postings: usize) -> Decoded {
        let mut id = 0;
        let mut posting = || {
            id += 1 + random.number_below(300) as i64 * random.number_below(300) as i64;
            let fields = [ChunkField::Body, ChunkField::Title, ChunkField::Symbol];
            let mut places: Vec<u32> = (0..=random.number_below(5))
                .map(|_| encode_place(fields[random.number_below(3)], random.number_below(2_000)))
                .collect();
            places.sort_unstable();
            places.dedup();
            (id, places.iter().map(|place| place_weight(*place) as u8).sum(), places)
        };
        (0..n_postings).map(|_| posting()).collect()
    }

    fn encoded(list: &Decoded) -> Vec<PostingRow> {
        let mut writer = ListWriter::default();
        for (id, _, places) in list {
            places.iter().for_each(|place| writer.add_occurrence(*id, *place));
        }
        writer.into_rows()
    }

    #[test]
    fn what_was_written_is_read() {
        let mut numbers = RandomNumbers::new(3);
        for n_postings in [0, 1, 2, ROW_POSTINGS, ROW_POSTINGS + 1, 3_000] {
            let list = random(&mut numbers, n_postings);
            let rows = encoded(&list);
            assert_eq!(rows.len(), n_postings.div_ceil(ROW_POSTINGS));
            assert!(decoded(&rows) == list, "{n_postings}");
            let mut merged = ListWriter::default();
            rows.iter().for_each(|row| merged.append_row(&row.postings, &row.places, |id| id % 3 > 0));
            let kept: Decoded = list.iter().filter(|posting| posting.0 % 3 > 0).cloned().collect();
            assert!(merged.into_rows() == encoded(&kept), "{n_postings}");
        }
    }

    #[test]
    fn many_occurrences_count_as_255() {
        let list = vec![(7, 255, (0..400).collect()), (9, 4, vec![encode_place(ChunkField::Symbol, 0)])];
        assert_eq!(decoded(&encoded(&list)), list);
    }

    #[test]
    fn damaged_bytes_end_a_list() {
        let mut random = RandomNumbers::new(4);
        for _ in 0..2_000 {
            let bytes: Vec<u8> =
                (0..random.number_below(20)).map(|_| random.number_below(256) as u8).collect();
            assert!(PostingReader::new(&bytes).count() <= bytes.len());
            let mut places = PlaceReader(&bytes);
            places.visit_next_posting(|_| ());
            assert!(places.0.len() <= bytes.len());
        }
    }
}
