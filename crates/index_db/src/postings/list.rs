//! Encodes lists of postings: which chunks have a word, how often and where. Pure.
//!
//! Numbers are written seven bits a byte, the lowest first (LEB128). A posting is the distance from the former chunk, doubled;
//! an odd number says that a byte with the count follows, which otherwise is one. Only phrases need the places in the
//! chunk, so they are kept apart: for each posting the distances between them, and a zero byte, in which no other number
//! ends.

/// Most postings of a row.
pub(super) const ROW_POSTINGS: usize = 1_024;

/// Bits of a place that count the words before it in its field; the others say which field that is.
const OFFSET_BITS: u32 = 28;

/// Fields of a chunk, in the order of their places. A word in a field of number n counts 2 to the n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Body,
    Title,
    Symbol,
}

/// Returns the place of a word in a chunk, given the number of words before it in the field.
pub(super) fn place(field: Field, offset: usize) -> u32 {
    (field as u32) << OFFSET_BITS | (offset as u32).min((1 << OFFSET_BITS) - 1)
}

/// Returns the number of words before a place in its field.
pub(super) fn offset(place: u32) -> u32 {
    place & ((1 << OFFSET_BITS) - 1)
}

/// Returns how much an occurrence counts.
pub(super) fn weight(place: u32) -> u32 {
    1 << (place >> OFFSET_BITS)
}

/// Up to [`ROW_POSTINGS`] postings.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) postings: Vec<u8>,
    pub(super) places: Vec<u8>,
}

/// Writes the list of one word.
#[derive(Debug, Default)]
pub(super) struct ListWriter {
    rows: Vec<Row>,
    n_in_row: usize,
    /// The last chunk of the row.
    last_id: i64,
    /// The chunk whose places are being written, and what they count; 0 if there is none.
    open: (i64, u32),
    next_place: u32,
}

impl ListWriter {
    /// Adds an occurrence. Chunks ascend, and so do the places of each.
    pub(super) fn add(&mut self, id: i64, place: u32) {
        if self.open.1 == 0 || self.open.0 != id {
            self.end_posting();
            self.begin_row_if_full();
            (self.open, self.next_place) = ((id, 0), 0);
        }
        let row = self.rows.last_mut().expect("it was begun with the posting");
        put_number(&mut row.places, u64::from(place - self.next_place) + 1);
        self.next_place = place + 1;
        self.open.1 += weight(place);
    }

    /// Adds the postings of a row of another list whose chunks are `wanted`.
    pub(super) fn append(&mut self, postings: &[u8], places: &[u8], wanted: impl Fn(i64) -> bool) {
        let mut places = Places(places);
        for (id, count) in Posting::all(postings) {
            let of_posting = places.next_encoded();
            if wanted(id) {
                self.begin_row_if_full();
                self.rows.last_mut().expect("it was begun").places.extend_from_slice(of_posting);
                self.put(id, count);
            }
        }
    }

    /// Returns the rows.
    pub(super) fn finish(mut self) -> Vec<Row> {
        self.end_posting();
        self.rows
    }

    fn end_posting(&mut self) {
        let (id, count) = std::mem::take(&mut self.open);
        if count > 0 {
            self.rows.last_mut().expect("it has places").places.push(0);
            self.put(id, u8::try_from(count).unwrap_or(u8::MAX));
        }
    }

    fn begin_row_if_full(&mut self) {
        if self.rows.is_empty() || self.n_in_row == ROW_POSTINGS {
            self.rows.push(Row::default());
            (self.n_in_row, self.last_id) = (0, 0);
        }
    }

    fn put(&mut self, id: i64, count: u8) {
        let postings = &mut self.rows.last_mut().expect("it was begun").postings;
        put_number(postings, ((id - self.last_id) as u64) << 1 | u64::from(count != 1));
        if count != 1 {
            postings.push(count);
        }
        self.last_id = id;
        self.n_in_row += 1;
    }
}

/// Reads the postings of a row: chunk and count.
pub(super) struct Posting<'a> {
    rest: &'a [u8],
    id: i64,
}

impl<'a> Posting<'a> {
    pub(super) fn all(postings: &'a [u8]) -> Self {
        Self { rest: postings, id: 0 }
    }
}

impl Iterator for Posting<'_> {
    type Item = (i64, u8);

    #[inline]
    fn next(&mut self) -> Option<(i64, u8)> {
        let number = take_number(&mut self.rest)?;
        self.id = self.id.wrapping_add((number >> 1) as i64); // of damaged bytes it is any number
        if number & 1 == 0 {
            return Some((self.id, 1));
        }
        let (count, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some((self.id, *count))
    }
}

/// Reads the places of a row, posting by posting.
pub(super) struct Places<'a>(pub(super) &'a [u8]);

impl<'a> Places<'a> {
    /// Passes over a posting, and returns its places as they are encoded.
    pub(super) fn next_encoded(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|byte| *byte == 0).map_or(self.0.len(), |zero| zero + 1);
        let (places, rest) = self.0.split_at(end);
        self.0 = rest;
        places
    }

    /// Calls `see` with each place of the next posting.
    pub(super) fn next_posting(&mut self, mut see: impl FnMut(u32)) {
        let mut next = 0;
        while let Some(distance @ 1..) = take_number(&mut self.0) {
            next = distance.wrapping_add(u64::from(next)) as u32;
            see(next.wrapping_sub(1));
        }
    }
}

pub(super) fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[inline]
pub(super) fn take_number(bytes: &mut &[u8]) -> Option<u64> {
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
    use memod_testing::Random;

    use super::*;

    type Decoded = Vec<(i64, u8, Vec<u32>)>;

    fn decoded(rows: &[Row]) -> Decoded {
        let mut all = Vec::new();
        for row in rows {
            let mut places = Places(&row.places);
            for (id, count) in Posting::all(&row.postings) {
                let mut of_posting = Vec::new();
                places.next_posting(|place| of_posting.push(place));
                all.push((id, count, of_posting));
            }
            assert_eq!(places.0, [0_u8; 0]);
        }
        all
    }

    fn random(random: &mut Random, n_postings: usize) -> Decoded {
        let mut id = 0;
        let mut posting = || {
            id += 1 + random.below(300) as i64 * random.below(300) as i64;
            let fields = [Field::Body, Field::Title, Field::Symbol];
            let mut places: Vec<u32> =
                (0..=random.below(5)).map(|_| place(fields[random.below(3)], random.below(2_000))).collect();
            places.sort_unstable();
            places.dedup();
            (id, places.iter().map(|place| weight(*place) as u8).sum(), places)
        };
        (0..n_postings).map(|_| posting()).collect()
    }

    fn encoded(list: &Decoded) -> Vec<Row> {
        let mut writer = ListWriter::default();
        for (id, _, places) in list {
            places.iter().for_each(|place| writer.add(*id, *place));
        }
        writer.finish()
    }

    #[test]
    fn what_was_written_is_read() {
        let mut numbers = Random::new(3);
        for n_postings in [0, 1, 2, ROW_POSTINGS, ROW_POSTINGS + 1, 3_000] {
            let list = random(&mut numbers, n_postings);
            let rows = encoded(&list);
            assert_eq!(rows.len(), n_postings.div_ceil(ROW_POSTINGS));
            assert!(decoded(&rows) == list, "{n_postings}");
            let mut merged = ListWriter::default();
            rows.iter().for_each(|row| merged.append(&row.postings, &row.places, |id| id % 3 > 0));
            let kept: Decoded = list.iter().filter(|posting| posting.0 % 3 > 0).cloned().collect();
            assert!(merged.finish() == encoded(&kept), "{n_postings}");
        }
    }

    #[test]
    fn many_occurrences_count_as_255() {
        let list = vec![(7, 255, (0..400).collect()), (9, 4, vec![place(Field::Symbol, 0)])];
        assert_eq!(decoded(&encoded(&list)), list);
    }

    #[test]
    fn damaged_bytes_end_a_list() {
        let mut random = Random::new(4);
        for _ in 0..2_000 {
            let bytes: Vec<u8> = (0..random.below(20)).map(|_| random.below(256) as u8).collect();
            assert!(Posting::all(&bytes).count() <= bytes.len());
            let mut places = Places(&bytes);
            places.next_posting(|_| ());
            assert!(places.0.len() <= bytes.len());
        }
    }
}
