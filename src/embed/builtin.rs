//! What vector does the model inside the binary give?

/// The static model compiled into the binary.
#[derive(Debug)]
pub struct Builtin;
