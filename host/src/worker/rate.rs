//! How many calls may come in a time (specification, "Tools, Security Considerations": servers must rate limit tool
//! invocations). It is there for programs that have lost control of themselves: no model, and no script that waits for
//! its answers, comes near it.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Calls a second that a server takes in the long run. A client that waits for each answer makes some hundred; whoever
/// sends more without waiting is held by the bound on waiting calls first.
pub const DEFAULT_MAX_CALLS_PER_SECOND: u32 = 1000;

/// How many seconds' worth of calls may come at once, after as long a silence.
const BURST_SECONDS: u32 = 10;

/// A bucket of calls, which fills as time passes.
pub(super) struct Rate {
    per_second: f64,
    bucket: Mutex<Bucket>,
}

struct Bucket {
    calls: f64,
    filled_at: Instant,
}

impl Rate {
    pub(super) fn new(per_second: u32, now: Instant) -> Rate {
        let per_second = f64::from(per_second.max(1));
        Rate {
            per_second,
            bucket: Mutex::new(Bucket {
                calls: per_second * f64::from(BURST_SECONDS),
                filled_at: now,
            }),
        }
    }

    /// Takes calls, if there are as many; how long it is until there are, if not.
    pub(super) fn take(&self, calls: usize, now: Instant) -> Result<(), Duration> {
        let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = now.saturating_duration_since(bucket.filled_at);
        let full = self.per_second * f64::from(BURST_SECONDS);
        bucket.calls = (bucket.calls + passed.as_secs_f64() * self.per_second).min(full);
        bucket.filled_at = bucket.filled_at.max(now);
        // As many as a batch may have, which is few; more than a full bucket would never come.
        let wanted = (calls as f64).min(full);
        if bucket.calls >= wanted {
            bucket.calls -= wanted;
            return Ok(());
        }
        Err(Duration::from_secs_f64(
            (wanted - bucket.calls) / self.per_second,
        ))
    }

    /// What is said to whoever has to wait.
    pub(super) fn refusal(&self, wait: Duration) -> String {
        format!(
            "too many calls (the limit is {} a second, and {BURST_SECONDS} seconds' worth at once); try again in {} ms",
            self.per_second,
            wait.as_millis() + 1
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_taken_and_then_as_many_as_time_allows() {
        let now = Instant::now();
        let rate = Rate::new(10, now);
        for _ in 0..100 {
            assert_eq!(rate.take(1, now), Ok(()));
        }
        assert_eq!(rate.take(1, now), Err(Duration::from_millis(100)));
        let later = now + Duration::from_millis(100);
        assert_eq!(rate.take(1, later), Ok(()));
        assert!(rate.take(1, later).is_err());
        assert!(rate.take(1, now).is_err(), "time does not go backwards");
    }

    #[test]
    fn a_long_silence_saves_up_no_more_than_a_burst() {
        let now = Instant::now();
        let rate = Rate::new(1, now);
        let later = now + Duration::from_secs(3600);
        assert_eq!(rate.take(10, later), Ok(()));
        assert_eq!(rate.take(1, later), Err(Duration::from_secs(1)));
        assert_eq!(
            rate.refusal(Duration::from_secs(1)),
            "too many calls (the limit is 1 a second, and 10 seconds' worth at once); try again in 1001 ms"
        );
    }

    #[test]
    fn a_batch_that_is_larger_than_any_burst_can_be_made() {
        let now = Instant::now();
        let rate = Rate::new(1, now);
        assert_eq!(rate.take(64, now), Ok(()));
        assert!(rate.take(1, now).is_err());
    }
}
