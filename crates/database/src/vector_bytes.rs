//! Converts vectors to and from their stored form: one byte for each int8 value.

/// Returns the stored form of an int8 vector.
pub fn vector_to_bytes(vec: &[i8]) -> Vec<u8> {
    vec.iter().map(|value| value.cast_unsigned()).collect()
}

/// Returns the int8 vector of a stored form.
pub fn vector_from_bytes(bytes: &[u8]) -> Vec<i8> {
    bytes.iter().map(|byte| byte.cast_signed()).collect()
}
