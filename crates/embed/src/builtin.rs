//! Embeds text with the static model that is compiled in.

use std::sync::{Arc, OnceLock};

use serde::Deserialize;

use super::{EmbedError, Embedder};
use memod_tokenizer::{BUILTIN_ID, Tokenizer};

/// Number of dimensions of the builtin model's vectors.
pub const DIMS: usize = 256;

/// Most tokens of one text whose pieces [`BuiltinModel::distinct_pieces`] returns.
const MAX_TOKENS: usize = 1_024;

/// The static model compiled into the binary: a text's vector is the weighted sum of its tokens' rows.
///
/// The table of rows stays in the binary's read-only pages. Loading builds only a hash table of the vocabulary, about 1 MiB.
/// Provenance, licence and calibration of the model: `models/builtin/README.md`.
#[derive(Debug)]
pub struct BuiltinModel {
    tokenizer: Tokenizer,
    /// One row for each piece of the vocabulary: `[n_pieces, dims]`, i8, row-major.
    rows: &'static [u8],
    /// One weight for each piece: `[n_pieces]`, f32, little-endian; 0 for punctuation.
    weights: &'static [u8],
    dims: usize,
}

/// Returns the error for a compiled-in model that is broken.
fn broken_model_error(reason: &str) -> EmbedError {
    EmbedError { model: BUILTIN_ID.to_owned(), reason: reason.to_owned() }
}

impl BuiltinModel {
    /// Reads the model out of the binary.
    ///
    /// # Errors
    /// When the compiled-in vocabulary and table do not match, which means a broken build.
    pub fn load() -> Result<Self, EmbedError> {
        let (header, data) =
            split_header(memod_models::VECTOR_TABLE).ok_or_else(|| broken_model_error("table cut short"))?;
        let header: SafetensorsHeader =
            serde_json::from_slice(header).map_err(|error| broken_model_error(&error.to_string()))?;
        let tokenizer = Tokenizer::builtin();
        let [n_rows, dims] = header.embeddings.shape;
        let rows =
            header.embeddings.find_data(data, "I8").ok_or_else(|| broken_model_error("no int8 rows"))?;
        let weights =
            header.weights.find_data(data, "F32").ok_or_else(|| broken_model_error("no f32 weights"))?;
        let fits = rows.len() == n_rows * dims && weights.len() == n_rows * 4 && dims == DIMS;
        if !fits || tokenizer.n_pieces() != n_rows {
            return Err(broken_model_error("vocabulary and table do not match"));
        }
        Ok(Self { tokenizer, rows, weights, dims })
    }

    /// Returns the model that the whole process shares. The first call loads the model.
    ///
    /// # Errors
    /// When the compiled-in vocabulary and table do not match, which means a broken build.
    pub fn shared() -> Result<Arc<Self>, EmbedError> {
        static SHARED: OnceLock<Arc<BuiltinModel>> = OnceLock::new();
        match SHARED.get() {
            Some(shared) => Ok(Arc::clone(shared)),
            None => {
                let loaded = Arc::new(Self::load()?);
                Ok(Arc::clone(SHARED.get_or_init(|| loaded)))
            }
        }
    }

    /// Returns the ids of the distinct vocabulary pieces in a text, ascending. Only the first 1,024 tokens of a text are read.
    pub fn distinct_pieces(&self, text: &str) -> Vec<u16> {
        let ids = self.tokenizer.first_token_ids(text, MAX_TOKENS).into_iter();
        let mut pieces: Vec<u16> = ids.filter_map(|id| u16::try_from(id).ok()).collect();
        pieces.sort_unstable();
        pieces.dedup();
        pieces
    }

    /// Returns the row of a piece of the vocabulary; `None` for a piece with a weight of 0 (punctuation), and for an unknown id.
    pub fn piece_row(&self, piece: u16) -> Option<[i8; DIMS]> {
        let id = usize::from(piece);
        let weight: [u8; 4] = self.weights.get(id * 4..)?.first_chunk().copied()?;
        let row: &[u8; DIMS] = self.rows.get(id * self.dims..)?.first_chunk()?;
        if f32::from_le_bytes(weight) <= 0.0 {
            return None;
        }
        let mut values = [0; DIMS];
        // Not `map`, which the compiler vectorizes only at the highest optimization level.
        values.iter_mut().zip(row).for_each(|(value, byte)| *value = byte.cast_signed());
        Some(values)
    }

    /// Returns the L2-normalized vector of one text; `None` if the model knows no word of the text.
    pub fn embed_one(&self, text: &str) -> Option<Vec<f32>> {
        let mut sum = vec![0.0; self.dims];
        for id in self.tokenizer.token_ids(text) {
            self.add_row(id as usize, &mut sum);
        }
        super::normalize(sum)
    }

    /// Adds the row of a token, times its weight, to `sum`.
    fn add_row(&self, id: usize, sum: &mut [f32]) {
        let weight = &self.weights[id * 4..][..4];
        let weight = f32::from_le_bytes(weight.try_into().expect("the slice is four bytes long"));
        let row = &self.rows[id * self.dims..][..self.dims];
        for (sum, value) in sum.iter_mut().zip(row) {
            *sum += f32::from(value.cast_signed()) * weight;
        }
    }
}

impl Embedder for BuiltinModel {
    fn id(&self) -> &str {
        BUILTIN_ID
    }

    fn dims(&self) -> usize {
        self.dims
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>, EmbedError> {
        Ok(texts.iter().map(|text| self.embed_one(text)).collect())
    }
}

/// The JSON header of a safetensors file. Tensors other than these two are ignored.
#[derive(Deserialize)]
struct SafetensorsHeader {
    embeddings: TensorEntry<2>,
    weights: TensorEntry<1>,
}

#[derive(Deserialize)]
struct TensorEntry<const N: usize>
where
    [usize; N]: serde::de::DeserializeOwned,
{
    dtype: String,
    shape: [usize; N],
    data_offsets: [usize; 2],
}

impl<const N: usize> TensorEntry<N>
where
    [usize; N]: serde::de::DeserializeOwned,
{
    /// Returns the bytes of the tensor within `data`, the part of the file after the header; `None` if the tensor has another
    /// type than `dtype`.
    fn find_data<'a>(&self, data: &'a [u8], dtype: &str) -> Option<&'a [u8]> {
        let [start, end] = self.data_offsets;
        data.get(start..end).filter(|_| self.dtype == dtype)
    }
}

/// Splits a safetensors file into its header and its tensors. The file begins with the header's length, a little-endian u64.
fn split_header(file: &[u8]) -> Option<(&[u8], &[u8])> {
    let (n_bytes, rest) = file.split_first_chunk::<8>()?;
    rest.split_at_checked(usize::try_from(u64::from_le_bytes(*n_bytes)).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Reference {
        text: String,
        ids_without_punctuation: Vec<u32>,
        vector: Vec<f32>,
    }

    #[test]
    fn tokens_and_vectors_equal_the_reference() {
        let file = memod_models::REFERENCE_VECTORS;
        let references: Vec<Reference> = serde_json::from_str(file).unwrap();
        assert_eq!(references.len(), 20);
        let model = BuiltinModel::load().unwrap();
        for Reference { text, ids_without_punctuation, vector } in references {
            assert_eq!(model.tokenizer.token_ids(&text), ids_without_punctuation, "{text}");
            assert_eq!(Tokenizer::builtin().token_ids(&text), ids_without_punctuation, "{text}");
            check_vector(&text, model.embed_one(&text).as_deref(), &vector);
        }
    }

    fn check_vector(text: &str, got: Option<&[f32]>, expected: &[f32]) {
        let is_zero = expected.iter().all(|value| *value == 0.0);
        let Some(got) = got else {
            return assert!(is_zero, "{text}");
        };
        assert_eq!(got.len(), expected.len());
        let largest = got.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        let cosine: f32 = got.iter().zip(expected).map(|(a, b)| a * b).sum();
        assert!(largest < 2e-6 && cosine > 0.999, "{text}: {largest}, {cosine}");
    }
}
