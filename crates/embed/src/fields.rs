//! Combines, normalizes and quantizes vectors, and compares quantized vectors.

use super::EmbedError;

/// Factor of quantization, and largest quantized value: the values of a unit vector are between -1 and 1.
const QUANTIZATION_FACTOR: f32 = 127.0;

/// Returns the vector scaled to length 1; `None` for a zero vector, and for a vector with a value that is not finite.
pub fn normalize(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if !norm.is_finite() || norm < 1e-12 {
        return None;
    }
    vector.iter_mut().for_each(|value| *value /= norm);
    Some(vector)
}

/// Returns the L2-normalized sum of weighted unit vectors. Parts without a vector are left out; `None` if no part has a vector.
///
/// Invariant: all vectors have the same length.
pub fn combine_vectors(parts: &[(f32, Option<&[f32]>)]) -> Option<Vec<f32>> {
    let mut present = parts.iter().filter_map(|(weight, vector)| Some((*weight, (*vector)?)));
    let (weight, first) = present.next()?;
    let mut sum: Vec<f32> = first.iter().map(|value| value * weight).collect();
    for (weight, vector) in present {
        debug_assert_eq!(vector.len(), sum.len(), "vectors of one model");
        sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value * weight);
    }
    normalize(sum)
}

/// One vector for each text; `None` for a text without a word that the model knows.
type EmbedResult = Result<Vec<Option<Vec<f32>>>, EmbedError>;

/// Returns one vector for each record, `None` for a record without a word that the model knows. Each record has two fields, which
/// are embedded separately: its head (title and symbol) and its body (models/builtin/README.md).
///
/// # Errors
/// When `embed` fails.
pub fn embed_record_fields(
    embed: impl FnOnce(&[&str]) -> EmbedResult,
    fields: &[(String, String)],
) -> EmbedResult {
    let texts: Vec<&str> = fields.iter().flat_map(|(head, body)| [head.as_str(), body.as_str()]).collect();
    let vectors = embed(&texts)?;
    Ok(vectors.chunks_exact(2).map(combine_fields).collect())
}

/// Returns the vector of a record from the vectors of its head and its body.
fn combine_fields(pair: &[Option<Vec<f32>>]) -> Option<Vec<f32>> {
    combine_vectors(&[(0.4, pair[0].as_deref()), (0.6, pair[1].as_deref())])
}

/// Returns a unit vector as int8: each value times 127, rounded.
pub fn quantize(vector: &[f32]) -> Vec<i8> {
    // `as` saturates, so a vector that is not of unit length is clipped, never wrapped.
    vector.iter().map(|value| (value * QUANTIZATION_FACTOR).round() as i8).collect()
}

/// Returns whether `values` can be a quantized unit vector: its length is 127, except for rounding.
pub fn is_quantized_unit(values: &[i8]) -> bool {
    let length = f64::from(dot_i8(values, values)).sqrt();
    // Rounding moves each value by at most a half.
    let most_off = (values.len() as f64).sqrt() / 2.0;
    !values.contains(&i8::MIN) && (length - f64::from(QUANTIZATION_FACTOR)).abs() <= most_off
}

/// Returns the cosine of two quantized vectors of one length, 0 where one of them is zero.
pub fn cosine_i8(a: &[i8], b: &[i8]) -> f32 {
    let (dot, a_squared, b_squared) =
        a.iter().zip(b).fold((0, 0, 0), |(dot, a_squared, b_squared), (a, b)| {
            let (a, b) = (i32::from(*a), i32::from(*b));
            (dot + a * b, a_squared + a * a, b_squared + b * b)
        });
    // The sums fit into i32 for up to 130,000 dimensions, and f64 holds them without loss.
    let norms = (f64::from(a_squared) * f64::from(b_squared)).sqrt();
    if norms == 0.0 { 0.0 } else { (f64::from(dot) / norms) as f32 }
}

/// Returns the dot product of two quantized vectors of one length. A scan over many rows ranks by dot products.
#[inline(always)]
pub fn dot_i8(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Part<'a> = (f32, Option<&'a [f32]>);

    #[test]
    fn parts_are_weighted_and_missing_ones_left_out() {
        let check = |parts: &[Part<'_>], expected: Option<&[f32]>| {
            assert_eq!(combine_vectors(parts).as_deref(), expected, "{parts:?}");
        };
        let (x, y): (&[f32], &[f32]) = (&[1.0, 0.0], &[0.0, 1.0]);
        check(&[], None);
        check(&[(1.0, None)], None);
        check(&[(0.3, Some(x)), (0.7, None)], Some(&[1.0, 0.0]));
        check(&[(3.0, Some(x)), (4.0, Some(y))], Some(&[0.6, 0.8]));
        check(&[(0.5, Some(x)), (-0.5, Some(x))], None);
        check(&[(1.0, Some(&[f32::NAN, 0.0]))], None);
    }

    #[test]
    fn quantized_values_stay_within_a_byte() {
        assert_eq!(quantize(&[1.0, -1.0, 0.0, 0.5, 9.0, -9.0, f32::NAN]), [127, -127, 0, 64, 127, -128, 0]);
    }

    #[test]
    fn quantized_vectors_of_another_length_are_told_apart() {
        let unit = |n: usize| normalize((0..n).map(|i| (i as f32 * 0.7).sin()).collect()).unwrap();
        for n in [2, 3, 64, 256, 1024] {
            let values = quantize(&unit(n));
            assert!(is_quantized_unit(&values), "{n}");
            let half: Vec<i8> = values.iter().map(|value| value / 2).collect();
            assert!(!is_quantized_unit(&half), "{n}");
        }
        assert!(is_quantized_unit(&[8; 256]));
        for other in [&[1; 256][..], &[0; 256], &[127; 256], &[-128, 0], &[]] {
            assert!(!is_quantized_unit(other), "{other:?}");
        }
    }

    #[test]
    fn int8_cosine_is_close_to_the_real_one() {
        let check = |a: &[f32], b: &[f32], expected: f32| {
            let unit = |vector: &[f32]| quantize(&normalize(vector.to_vec()).unwrap());
            let got = cosine_i8(&unit(a), &unit(b));
            assert!((got - expected).abs() < 0.01, "{got} instead of {expected}");
        };
        check(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0], 1.0);
        check(&[1.0, 2.0, 3.0], &[-1.0, -2.0, -3.0], -1.0);
        check(&[1.0, 0.0], &[1.0, 1.0], 0.707);
        assert_eq!(cosine_i8(&[0, 0], &[1, 2]), 0.0);
        assert_eq!(dot_i8(&[127, -128], &[127, -128]), 127 * 127 + 128 * 128);
    }
}
