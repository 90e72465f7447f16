//! Parses a share between 0 and 1.

/// Parses a number from 0 to 1. Refuses NaN, with which every score would pass a threshold.
pub(crate) fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "not between 0 and 1".to_owned())
}
