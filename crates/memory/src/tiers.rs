//! Computes how long a memory lasts, and how a recall extends it.
//!
//! Times are unix milliseconds.

use memod_proto::memory::Tier;

use super::fields::{MAX_ACCESS_COUNT, MAX_PRIORITY};
use super::time::MAX_LIFETIME_MS;

const MINUTE_MS: i64 = 60_000;
/// Number of recalls that raise the priority by one.
const RECALLS_A_PRIORITY: u64 = 10;

/// How long memories last, in the units of the settings in `[memory]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetimes {
    /// Minutes in the short tier.
    pub short_minutes: u64,
    /// Minutes in the mid tier.
    pub mid_minutes: u64,
    /// Minutes that a recall adds in the short tier.
    pub short_extension_minutes: u64,
    /// Minutes that a recall adds in the mid tier.
    pub mid_extension_minutes: u64,
    /// Number of recalls after which a memory of the mid tier is promoted to the long tier.
    pub promote_at: u64,
}

/// Lifetimes of the tiers, milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TierLifetimes {
    short_ms: i64,
    mid_ms: i64,
    short_extension_ms: i64,
    mid_extension_ms: i64,
    promote_at: u64,
}

/// The fields of a memory that a promotion or a recall changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of `proto::memory::Memory`")]
pub struct Retention {
    pub tier: Tier,
    pub expires_at: Option<i64>,
    pub priority: u8,
    pub access_count: u64,
}

impl TierLifetimes {
    /// Converts lifetimes to milliseconds.
    pub fn new(lifetimes: &Lifetimes) -> Self {
        Self {
            short_ms: minutes_to_ms(lifetimes.short_minutes),
            mid_ms: minutes_to_ms(lifetimes.mid_minutes),
            short_extension_ms: minutes_to_ms(lifetimes.short_extension_minutes),
            mid_extension_ms: minutes_to_ms(lifetimes.mid_extension_minutes),
            promote_at: lifetimes.promote_at,
        }
    }

    /// Returns the expiry of a memory that enters a tier now, unix ms; `None` if the memory never expires.
    pub fn expiry_in(&self, tier: Tier, now_ms: i64) -> Option<i64> {
        match tier {
            Tier::Short => Some(now_ms + self.short_ms),
            Tier::Mid => Some(now_ms + self.mid_ms),
            Tier::Long => None,
        }
    }

    /// Returns the fields of a memory after a promotion to the tier `to`, or without `to` to the next tier; `None` if the memory is
    /// in this tier already, or in a higher one. A promotion never shortens the lifetime.
    pub fn promoted(&self, before: Retention, to: Option<Tier>, now_ms: i64) -> Option<Retention> {
        let next = if before.tier == Tier::Short { Tier::Mid } else { Tier::Long };
        let tier = Some(to.unwrap_or(next)).filter(|tier| *tier > before.tier)?;
        // A memory without an expiry lives longest, so the result has one only if both lifetimes end.
        let expires_at = before.expires_at.zip(self.expiry_in(tier, now_ms)).map(|(old, new)| old.max(new));
        Some(Retention { tier, expires_at, ..before })
    }

    /// Returns the fields of a memory after a recall, which may extend the lifetime, raise the priority or promote the memory.
    pub fn recalled(&self, before: Retention, now_ms: i64) -> Retention {
        let access_count = before.access_count.saturating_add(1).min(MAX_ACCESS_COUNT);
        let is_tenth = access_count.is_multiple_of(RECALLS_A_PRIORITY);
        let priority = if is_tenth { MAX_PRIORITY.min(before.priority + 1) } else { before.priority };
        let after = Retention { access_count, priority, ..before };
        let extension_ms = match before.tier {
            Tier::Mid if access_count >= self.promote_at => {
                return self.promoted(after, None, now_ms).unwrap_or(after);
            }
            Tier::Short => self.short_extension_ms,
            Tier::Mid => self.mid_extension_ms,
            Tier::Long => 0,
        };
        let most = now_ms + MAX_LIFETIME_MS;
        // An expiry that is beyond the limit already is not shortened.
        let expires_at = before.expires_at.map(|at| at.saturating_add(extension_ms).min(most.max(at)));
        Retention { expires_at, ..after }
    }
}

/// Converts minutes to milliseconds; returns the largest number on overflow.
fn minutes_to_ms(minutes: u64) -> i64 {
    i64::try_from(minutes).unwrap_or(i64::MAX).saturating_mul(MINUTE_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_MS: i64 = 60 * MINUTE_MS;
    const DAY_MS: i64 = 24 * HOUR_MS;

    fn tiers() -> TierLifetimes {
        TierLifetimes::new(&Lifetimes {
            short_minutes: 6 * 60,
            mid_minutes: 7 * 24 * 60,
            short_extension_minutes: 60,
            mid_extension_minutes: 24 * 60,
            promote_at: 5,
        })
    }

    fn standing(tier: Tier, expires_at: Option<i64>, priority: u8, access_count: u64) -> Retention {
        Retention { tier, expires_at, priority, access_count }
    }

    #[test]
    fn recalling_reinforces() {
        let (short, mid, long) = (Tier::Short, Tier::Mid, Tier::Long);
        let cases = [
            (standing(short, Some(10), 5, 0), standing(short, Some(10 + HOUR_MS), 5, 1)),
            (standing(short, Some(10), 5, 20), standing(short, Some(10 + HOUR_MS), 5, 21)),
            (standing(mid, Some(10), 5, 3), standing(mid, Some(10 + DAY_MS), 5, 4)),
            (standing(mid, Some(10), 5, 4), standing(long, None, 5, 5)),
            (standing(long, None, 5, 9), standing(long, None, 6, 10)),
            (standing(long, Some(10), 10, 19), standing(long, Some(10), 10, 20)),
            (standing(short, None, 5, 0), standing(short, None, 5, 1)),
            (standing(long, None, 5, MAX_ACCESS_COUNT), standing(long, None, 5, MAX_ACCESS_COUNT)),
            (standing(short, Some(MAX_LIFETIME_MS), 5, 0), standing(short, Some(MAX_LIFETIME_MS), 5, 1)),
        ];
        for (before, after) in cases {
            assert_eq!(tiers().recalled(before, 0), after, "{before:?}");
        }
    }

    #[test]
    fn promoting_goes_one_up_or_where_it_is_told() {
        let end = |tier, to, expires_at| {
            let promoted = tiers().promoted(standing(tier, expires_at, 5, 0), to, 0);
            promoted.map(|after| (after.tier, after.expires_at))
        };
        assert_eq!(end(Tier::Short, None, Some(10)), Some((Tier::Mid, Some(7 * DAY_MS))));
        assert_eq!(end(Tier::Short, None, Some(9 * DAY_MS)), Some((Tier::Mid, Some(9 * DAY_MS))));
        assert_eq!(end(Tier::Short, None, None), Some((Tier::Mid, None)));
        assert_eq!(end(Tier::Mid, None, Some(10)), Some((Tier::Long, None)));
        assert_eq!(end(Tier::Long, None, Some(10)), None);
        assert_eq!(end(Tier::Short, Some(Tier::Long), Some(10)), Some((Tier::Long, None)));
        assert_eq!(end(Tier::Mid, Some(Tier::Mid), Some(10)), None);
    }
}
