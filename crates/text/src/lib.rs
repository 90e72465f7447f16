//! Cuts text into words and stems, and finds and masks credentials in it.
//!
//! Pure: functions take text and return values, and use no file system, clock, environment or SQL.

mod credentials;
mod decode;
mod plausible;
pub mod redact;
pub mod scripts;
pub mod secrets;
pub mod stems;
mod word_parts;
pub mod words;

pub use decode::decode_text;
