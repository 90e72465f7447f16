//! Returns the wall-clock time and the local zone.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// Returns this moment, unix ms.
pub(super) fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

/// Returns a moment in the zone of this machine.
pub(super) fn local(unix_ms: i64) -> Zoned {
    let timestamp = Timestamp::from_millisecond(unix_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    timestamp.to_zoned(TimeZone::try_system().unwrap_or(TimeZone::UTC))
}
