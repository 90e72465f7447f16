//! Converts vectors to what a row has of them.

/// Converts an int8 vector to its stored form.
pub fn as_bytes(vec: &[i8]) -> Vec<u8> {
    vec.iter().map(|value| value.cast_unsigned()).collect()
}

/// Converts a stored vector.
pub fn as_vector(bytes: &[u8]) -> Vec<i8> {
    bytes.iter().map(|byte| byte.cast_signed()).collect()
}
