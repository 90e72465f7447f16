//! Converts vectors to and from their stored form.

/// Converts an int8 vector to its stored form.
pub fn vector_to_bytes(vec: &[i8]) -> Vec<u8> {
    vec.iter().map(|value| value.cast_unsigned()).collect()
}

/// Converts a stored vector.
pub fn vector_from_bytes(bytes: &[u8]) -> Vec<i8> {
    bytes.iter().map(|byte| byte.cast_signed()).collect()
}
