//! Finds the nearest vectors exactly, by computing the dot product of the query with every int8 vector.
//!
//! The vectors are in memory. [`StoredVectors`](crate::stored_vectors::StoredVectors) reads them from the database instead.

use std::collections::HashMap;
use std::hash::Hash;

use memod_base::types::ChunkId;
use memod_embed::{CosineScale, QueryVector, cosine_i8, dot_i8};

pub use memod_base::types::IdSet;
use memod_database::DatabaseError;

/// Number of rows whose dot products are computed together: 32 KiB for 256 dimensions. They are skipped if the filter admits none.
const ROWS_AT_ONCE: usize = 128;

/// A collection of chunk vectors that finds the nearest. All implementations give the same results.
pub trait NearestVectors {
    /// Returns the `k` nearest chunks, of `among` or of all chunks, with their cosines; nearest first, and equally near ones by id.
    ///
    /// # Errors
    /// When the vectors cannot be read.
    fn find_nearest(
        &self,
        query: &[i8],
        k: usize,
        among: Option<&IdSet>,
    ) -> Result<Vec<(ChunkId, f64)>, DatabaseError>;
}

impl NearestVectors for VectorIndex {
    fn find_nearest(
        &self,
        query: &[i8],
        k: usize,
        among: Option<&IdSet>,
    ) -> Result<Vec<(ChunkId, f64)>, DatabaseError> {
        Ok(Self::find_nearest(self, query, k, |id| among.is_none_or(|among| among.contains(id))))
    }
}

/// Quantized vectors (unit vectors times 127) in memory, with their ids.
#[derive(Clone)]
pub struct VectorIndex<Id = ChunkId> {
    dims: usize,
    ids: Vec<Id>,
    /// `[n_ids, dims]`, row-major.
    rows: Vec<i8>,
}

impl<Id: Copy + Ord> VectorIndex<Id> {
    /// Creates an empty index for vectors of `dims` numbers.
    pub fn new(dims: usize) -> Self {
        Self { dims, ids: Vec::new(), rows: Vec::new() }
    }

    /// Allocates memory for `n_vectors` more vectors.
    pub fn reserve(&mut self, n_vectors: usize) {
        self.ids.reserve_exact(n_vectors);
        self.rows.reserve_exact(n_vectors * self.dims);
    }

    /// Adds a vector. Ignores a vector whose length is not `dims`.
    pub fn add_vector(&mut self, id: Id, vector: &[i8]) {
        if vector.len() == self.dims {
            self.ids.push(id);
            self.rows.extend_from_slice(vector);
        }
    }

    /// Returns the number of vectors.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns whether there are no vectors.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Removes the vectors for whose ids `keeps` returns false.
    pub fn retain(&mut self, keeps: impl Fn(Id) -> bool) {
        let mut n_kept = 0;
        for at in 0..self.ids.len() {
            if keeps(self.ids[at]) {
                self.ids[n_kept] = self.ids[at];
                self.rows.copy_within(at * self.dims..(at + 1) * self.dims, n_kept * self.dims);
                n_kept += 1;
            }
        }
        self.ids.truncate(n_kept);
        self.rows.truncate(n_kept * self.dims);
    }

    /// Returns the ids of the `k` nearest vectors that `admits` accepts, with their cosines; nearest first, and equally near ones
    /// by id.
    pub fn find_nearest(&self, query: &[i8], k: usize, admits: impl Fn(Id) -> bool) -> Vec<(Id, f64)> {
        let mut best = NearestRows::new(query, self.dims, k);
        best.add_rows(&self.ids, &self.rows, admits);
        best.into_sorted()
    }
}

/// Collects the `k` nearest of the rows that are added.
pub(crate) struct NearestRows<'a, Id> {
    query: &'a [i8],
    dims: usize,
    k: usize,
    /// Negative dot product and id of the nearest rows so far, and of some others.
    found: Vec<(i32, Id)>,
    /// Largest negative dot product with which a further row can be among the nearest.
    farthest: i32,
}

impl<'a, Id: Copy + Ord> NearestRows<'a, Id> {
    pub(crate) fn new(query: &'a [i8], dims: usize, k: usize) -> Self {
        Self { query, dims, k, found: Vec::new(), farthest: i32::MAX }
    }

    /// Adds the rows (`[n_ids, dims]`) whose ids `admits` accepts.
    pub(crate) fn add_rows(&mut self, ids: &[Id], rows: &[i8], admits: impl Fn(Id) -> bool) {
        let mut found = Vec::new();
        for (ids, rows) in ids.chunks(ROWS_AT_ONCE).zip(rows.chunks(ROWS_AT_ONCE * self.dims)) {
            if !ids.iter().any(|id| admits(*id)) {
                continue;
            }
            dot_products(self.query, rows, self.dims, &mut found);
            for (dot, id) in found.iter().zip(ids) {
                if -dot <= self.farthest && admits(*id) {
                    self.found.push((-dot, *id));
                }
            }
            if self.found.len() > 2 * self.k {
                self.drop_farthest();
            }
        }
    }

    /// Drops all rows but the `k` nearest.
    fn drop_farthest(&mut self) {
        if self.found.len() > self.k {
            let (_, farthest, _) = self.found.select_nth_unstable(self.k);
            self.farthest = farthest.0;
            self.found.truncate(self.k);
        }
    }

    /// Returns the ids of the nearest rows with their cosines; nearest first, and equally near ones by id.
    pub(crate) fn into_sorted(mut self) -> Vec<(Id, f64)> {
        self.drop_farthest();
        self.found.sort_unstable();
        // Rounding to int8 makes some vectors a little too long, so a cosine could exceed 1.
        let scale = 127.0 * 127.0;
        self.found.into_iter().map(|(negative, id)| (id, (f64::from(-negative) / scale).min(1.0))).collect()
    }
}

/// Vectors in memory that are added, replaced and removed one by one, for memories.
#[derive(Clone)]
pub struct MutableVectorIndex<Id> {
    /// Identity of the model.
    model: String,
    scale: CosineScale,
    /// All vectors.
    all: VectorIndex<Id>,
    /// Position of each id's vector in `all`.
    places: HashMap<Id, usize>,
}

impl<Id: Copy + Ord + Hash> MutableVectorIndex<Id> {
    /// Creates an empty index for the vectors of a model. The first vector determines the number of dimensions.
    pub fn new(model: &str, scale: CosineScale) -> Self {
        Self { model: model.to_owned(), scale, all: VectorIndex::new(0), places: HashMap::new() }
    }

    /// Returns the identity of the model.
    pub fn model_id(&self) -> &str {
        &self.model
    }

    /// Sets the vector of an id. `None`, or a vector of another length, removes the vector.
    pub fn set_vector(&mut self, id: Id, vector: Option<&[i8]>) {
        let VectorIndex { dims, ids, rows } = &mut self.all;
        if let (0, Some(vector)) = (ids.len(), vector) {
            *dims = vector.len();
        }
        if let Some(at) = self.places.remove(&id) {
            // The last vector fills the gap.
            ids.swap_remove(at);
            let last = rows.len() - *dims;
            rows.copy_within(last.., at * *dims);
            rows.truncate(last);
            if let Some(moved) = ids.get(at) {
                self.places.insert(*moved, at);
            }
        }
        if let Some(vector) = vector.filter(|vector| vector.len() == *dims) {
            self.places.insert(id, ids.len());
            self.all.add_vector(id, vector);
        }
    }

    /// Returns the vector of an id.
    pub fn get(&self, id: Id) -> Option<&[i8]> {
        let at = *self.places.get(&id)?;
        Some(&self.all.rows[at * self.all.dims..][..self.all.dims])
    }

    /// Returns the vector of an id as a query, to find vectors that are near it.
    pub fn vector_as_query(&self, id: Id) -> Option<QueryVector> {
        Some(QueryVector::from_stored(&self.model, self.scale, self.get(id)?.to_vec()))
    }

    /// Like [`VectorIndex::find_nearest`], but with cosines on the scale of the builtin model. Returns nothing if the query belongs
    /// to another model.
    pub fn find_nearest(&self, query: &QueryVector, k: usize, admits: impl Fn(Id) -> bool) -> Vec<(Id, f64)> {
        let values = query.values_for_model(&self.model).filter(|_| !self.all.is_empty());
        let Some(values) = values else { return Vec::new() };
        let top = self.all.find_nearest(values, k, admits).into_iter();
        top.map(|(id, cosine)| (id, query.scale_cosine(cosine))).collect()
    }

    /// Returns the cosine of an id's vector with a query, on the scale of the builtin model; `None` if the id has no vector, or the
    /// query belongs to another model.
    pub fn scaled_cosine(&self, query: &QueryVector, id: Id) -> Option<f64> {
        let (values, own) = (query.values_for_model(&self.model)?, self.get(id)?);
        Some(query.scale_cosine(f64::from(cosine_i8(values, own))))
    }
}

/// Sets `found` to the dot product of `query` with each row, `[n_rows]`. With AVX2 this takes a third of the time.
#[cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "calls what needs AVX2"))]
pub fn dot_products(query: &[i8], rows: &[i8], dims: usize, found: &mut Vec<i32>) {
    found.clear();
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { dot_products_avx2(query, rows, dims, found) };
    }
    dot_products_any(query, rows, dims, found);
}

/// [`dot_products`], compiled for AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn dot_products_avx2(query: &[i8], rows: &[i8], dims: usize, found: &mut Vec<i32>) {
    dot_products_any(query, rows, dims, found);
}

/// [`dot_products`] for any processor. Inlined into its callers, so that it is compiled for their processor features.
#[inline(always)]
fn dot_products_any(query: &[i8], rows: &[i8], dims: usize, found: &mut Vec<i32>) {
    found.reserve(rows.len() / dims);
    // Not `extend`, which could be compiled as a separate function without AVX2.
    for row in rows.chunks_exact(dims) {
        found.push(dot_i8(query, row));
    }
}

#[cfg(test)]
mod tests {
    use memod_base::types::MemoryRow;

    use super::*;

    #[test]
    fn the_nearest_come_first_and_only_those_admitted() {
        let mut nearest = VectorIndex::new(2);
        for (id, vector) in [(7, [127, 0]), (3, [0, 127]), (5, [90, 90]), (4, [90, 90])] {
            nearest.add_vector(ChunkId(id), &vector);
        }
        nearest.add_vector(ChunkId(9), &[1, 2, 3]);
        let ids = |k, admits: fn(ChunkId) -> bool| -> Vec<i64> {
            nearest.find_nearest(&[127, 0], k, admits).into_iter().map(|(id, _)| id.0).collect()
        };
        assert_eq!(ids(10, |_| true), [7, 4, 5, 3]);
        assert_eq!(ids(2, |_| true), [7, 4]);
        assert_eq!(ids(2, |id| id.0 < 5), [4, 3]);
        let (_, cosine) = nearest.find_nearest(&[127, 0], 1, |_| true)[0];
        assert!((cosine - 1.0).abs() < 1e-9, "{cosine}");
    }

    #[test]
    fn vectors_come_change_and_go() {
        let mut changing = MutableVectorIndex::new("one", CosineScale::default());
        let query = |model| QueryVector::from_stored(model, CosineScale::default(), vec![127, 0]);
        assert!(changing.find_nearest(&query("one"), 9, |_| true).is_empty());
        for (id, vector) in [(1, [127, 0]), (2, [0, 127]), (3, [90, 90])] {
            changing.set_vector(MemoryRow(id), Some(&vector));
        }
        let ids = |changing: &MutableVectorIndex<MemoryRow>| -> Vec<i64> {
            changing.find_nearest(&query("one"), 9, |_| true).into_iter().map(|(id, _)| id.0).collect()
        };
        assert_eq!(ids(&changing), [1, 3, 2]);
        assert!(changing.find_nearest(&query("two"), 9, |_| true).is_empty(), "of another model");
        assert_eq!(changing.scaled_cosine(&query("two"), MemoryRow(1)), None);
        assert_eq!(changing.scaled_cosine(&query("one"), MemoryRow(1)), Some(1.0));
        changing.set_vector(MemoryRow(1), None);
        assert_eq!(ids(&changing), [3, 2]);
        changing.set_vector(MemoryRow(2), Some(&[120, 0]));
        assert_eq!(ids(&changing), [2, 3]);
        assert_eq!(changing.get(MemoryRow(3)), Some(&[90_i8, 90][..]));
        changing.set_vector(MemoryRow(3), Some(&[1]));
        changing.set_vector(MemoryRow(2), None);
        assert_eq!(ids(&changing), [0_i64; 0]);
        assert_eq!(changing.get(MemoryRow(2)), None);
    }
}
