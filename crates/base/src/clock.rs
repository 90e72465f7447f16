//! Reads the wall clock, the local time zone and the uptime of the machine.

use std::sync::OnceLock;
#[cfg(not(target_os = "linux"))]
use std::time::Instant;
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::types::MachineUptime;

/// Returns the current time in Unix milliseconds; 0 if the clock is before 1970.
pub fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

/// Converts Unix milliseconds to a time in the zone of this machine; in UTC if that zone is unknown.
pub fn to_local_time(unix_ms: i64) -> Zoned {
    let timestamp = Timestamp::from_millisecond(unix_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    timestamp.to_zoned(TimeZone::try_system().unwrap_or(TimeZone::UTC))
}

/// Returns the uptime of the machine, including sleep.
#[cfg(target_os = "linux")]
pub fn read_uptime() -> MachineUptime {
    use rustix::time::{ClockId, clock_gettime};
    static BOOT: OnceLock<String> = OnceLock::new();
    let boot = BOOT.get_or_init(|| {
        let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
        id.map_or_else(|_| process_identity(), |id| id.trim().to_owned())
    });
    let time = clock_gettime(ClockId::Boottime);
    MachineUptime { boot: boot.clone(), ms: time.tv_sec * 1_000 + time.tv_nsec / 1_000_000 }
}

/// Returns the time since the first call in this process, because the uptime of the machine is not available here.
#[cfg(not(target_os = "linux"))]
pub fn read_uptime() -> MachineUptime {
    static START: OnceLock<(String, Instant)> = OnceLock::new();
    let (boot, started) = START.get_or_init(|| (process_identity(), Instant::now()));
    MachineUptime { boot: boot.clone(), ms: started.elapsed().as_millis() as i64 }
}

/// Returns a substitute for the boot id that differs between processes.
fn process_identity() -> String {
    format!("{} {}", std::process::id(), now_ms())
}
