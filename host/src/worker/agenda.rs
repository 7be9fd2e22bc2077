//! When the worker does what nobody waits for.

use std::time::{Duration, Instant};

use super::watch::Looked;
use crate::protocol::Interest;
use crate::sandbox::{BETWEEN_SLICES, Maintained};

/// How soon after a call is looked for what it changed: calls come in bursts, and one look is enough for all of them.
const AFTER_CALL: Duration = Duration::from_millis(100);

/// How often is looked for what other processes changed, while somebody has subscribed: they are to hear of it within
/// a second.
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

/// How long no call must have come before it is tidied up.
const QUIET: Duration = Duration::from_secs(2);

/// How long is waited after maintenance failed, or another process was in the way.
const AFTER_FAILURE: Duration = Duration::from_secs(60);

/// How many slices in a row are given to maintenance that always wants one more: ten minutes of work, when a million
/// memories are rewritten in one. What is not done then goes on after the next call.
const MAX_SLICES: u32 = 12_000;

/// What is due, and when.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    changes: Option<Instant>,
    maintenance: Option<Instant>,
    /// Slices of maintenance since the last call.
    slices: u32,
}

/// Something that is due.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// To look for changes.
    Changes,
    /// A slice of maintenance.
    Maintenance,
}

impl Agenda {
    /// When something is due next.
    pub(super) fn next(&self) -> Option<Instant> {
        self.changes.into_iter().chain(self.maintenance).min()
    }

    /// What is due now. It is off the agenda then.
    pub(super) fn take(&mut self, now: Instant) -> Option<Due> {
        let is_due = |at: &mut Instant| *at <= now;
        if self.changes.take_if(is_due).is_some() {
            return Some(Due::Changes);
        }
        self.maintenance.take_if(is_due).map(|_| Due::Maintenance)
    }

    /// A call has used the store.
    pub(super) fn called(&mut self, now: Instant, interest: &Interest) {
        self.maintenance = Some(now + QUIET);
        self.slices = 0;
        if *interest != Interest::None {
            let soon = now + AFTER_CALL;
            self.changes = Some(self.changes.map_or(soon, |at| at.min(soon)));
        }
    }

    /// It was looked for changes.
    pub(super) fn looked(&mut self, now: Instant, looked: &Looked) {
        self.changes = match looked {
            Looked::Nothing => Some(now + AFTER_CALL),
            Looked::AndMustAgain => Some(now + BETWEEN_LOOKS),
            Looked::Enough => None,
        };
    }

    /// A slice of maintenance was done.
    pub(super) fn maintained(&mut self, now: Instant, outcome: &Maintained) {
        self.slices = self.slices.saturating_add(1);
        self.maintenance = match outcome {
            // Whoever gets what is wanted says so.
            Maintained::Done | Maintained::Wanting(_) => None,
            Maintained::More if self.slices >= MAX_SLICES => {
                tracing::warn!("maintenance has no end; it is given up until the next call");
                None
            }
            // The store is the other processes' in between.
            Maintained::More => Some(now + BETWEEN_SLICES),
            Maintained::Failed => Some(now + AFTER_FAILURE),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn active() -> Interest {
        Interest::Active(vec!["memory://entries/m0".to_owned()])
    }

    #[test]
    fn without_calls_and_subscribers_nothing_is_ever_due() {
        let now = Instant::now();
        let mut agenda = Agenda::default();
        assert_eq!(agenda.next(), None);
        agenda.called(now, &Interest::None);
        assert_eq!(agenda.next(), Some(now + QUIET));
        assert_eq!(agenda.take(now + QUIET), Some(Due::Maintenance));
        agenda.maintained(now + QUIET, &Maintained::Done);
        assert_eq!(agenda.next(), None, "all is done");
    }

    #[test]
    fn calls_put_maintenance_off() {
        let now = Instant::now();
        let mut agenda = Agenda::default();
        agenda.called(now, &Interest::None);
        agenda.called(now + QUIET / 2, &Interest::None);
        assert_eq!(agenda.take(now + QUIET), None);
    }

    #[test]
    fn those_who_asked_for_nothing_cost_one_look_after_a_burst_of_calls() {
        let now = Instant::now();
        let mut agenda = Agenda::default();
        agenda.called(now, &Interest::Passive);
        agenda.called(now + AFTER_CALL / 2, &Interest::Passive);
        assert_eq!(agenda.take(now + AFTER_CALL), Some(Due::Changes));
        agenda.looked(now + AFTER_CALL, &Looked::Enough);
        assert_eq!(agenda.next(), agenda.maintenance);
    }

    #[test]
    fn subscribers_are_looked_after_until_they_are_gone() {
        let now = Instant::now();
        let mut agenda = Agenda::default();
        agenda.called(now, &active());
        let mut at = now + AFTER_CALL;
        for _ in 0..3 {
            assert_eq!(agenda.take(at), Some(Due::Changes));
            agenda.looked(at, &Looked::AndMustAgain);
            at += BETWEEN_LOOKS;
        }
        assert_eq!(agenda.take(at), Some(Due::Changes));
        agenda.looked(at, &Looked::Enough);
        assert_ne!(agenda.take(at + BETWEEN_LOOKS), Some(Due::Changes));
    }

    #[test]
    fn maintenance_without_an_end_ends() {
        let now = Instant::now();
        let mut agenda = Agenda::default();
        let mut slices = 0;
        agenda.called(now, &Interest::None);
        while let Some(at) = agenda.next() {
            assert_eq!(agenda.take(at), Some(Due::Maintenance));
            agenda.maintained(at, &Maintained::More);
            slices += 1;
        }
        assert_eq!(slices, MAX_SLICES);
        agenda.called(now, &Interest::None);
        assert!(agenda.next().is_some(), "it goes on after the next call");
    }

    #[test]
    fn what_is_not_finished_goes_on_and_what_failed_waits() {
        let now = Instant::now();
        let mut agenda = Agenda::default();
        agenda.maintained(now, &Maintained::More);
        assert_eq!(agenda.take(now), None, "others have their turn");
        let now = now + BETWEEN_SLICES;
        assert_eq!(agenda.take(now), Some(Due::Maintenance));
        agenda.maintained(now, &Maintained::Failed);
        assert_eq!(agenda.take(now + AFTER_FAILURE / 2), None);
        assert_eq!(agenda.take(now + AFTER_FAILURE), Some(Due::Maintenance));
    }
}
