//! Notices what changed in the component's store, by whomever, and has it told to those who want to know.

use std::sync::Arc;
use std::time::Duration;

use crate::protocol::{Interest, Subscriptions};
use crate::sandbox::{Abnormal, CallError, Cancel, Sandbox, Seen};
use crate::store_lock::PATIENCE;

/// Where the watch stands.
pub(super) struct Watch {
    subscriptions: Arc<Subscriptions>,
    /// The state that all who listen know of; `None` while nobody does.
    token: Option<String>,
}

/// What came of a look.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Looked {
    /// Nothing could be seen; another process has the store, or it is not open yet.
    Nothing,
    /// Somebody waits for what other processes do.
    AndMustAgain,
    /// There is nobody for whom to look again before the next call.
    Enough,
}

impl Watch {
    pub(super) fn new(subscriptions: Arc<Subscriptions>) -> Watch {
        Watch {
            subscriptions,
            token: None,
        }
    }

    /// How closely is to be watched.
    pub(super) fn interest(&mut self) -> Interest {
        let interest = self.subscriptions.interest();
        if interest == Interest::None {
            // Whoever listens next wants to hear of what changes from then on.
            self.token = None;
        }
        interest
    }

    /// Remembers the present state if somebody began to listen, or is about to, so that what comes next is a change, and
    /// what came before is none.
    ///
    /// # Errors
    ///
    /// Another process has the store all the time, or nobody wants to know any more: then a call that needs the store
    /// as well need not be made.
    pub(super) fn begin(
        &mut self,
        sandbox: &mut Sandbox,
        cancel: &Cancel,
        somebody_comes: bool,
    ) -> Result<(), CallError> {
        let interest = self.interest();
        let must_look = somebody_comes || interest != Interest::None && self.token.is_none();
        if !must_look {
            return Ok(());
        }
        match self.see(sandbox, &interest, PATIENCE, cancel) {
            Err(error @ (CallError::Busy(_) | CallError::Abnormal(Abnormal::Cancelled))) => {
                Err(error)
            }
            Err(error) => {
                tracing::warn!("changes can't be seen: {error}");
                Ok(())
            }
            Ok(_) => Ok(()),
        }
    }

    /// Looks for changes, and tells of them.
    pub(super) fn look(&mut self, sandbox: &mut Sandbox) -> Looked {
        let interest = self.interest();
        if interest == Interest::None {
            return Looked::Enough;
        }
        match self.see(sandbox, &interest, Duration::ZERO, &Cancel::default()) {
            Ok(true) => {}
            Ok(false) | Err(CallError::Busy(_)) => return Looked::Nothing,
            Err(error) => tracing::warn!("changes can't be seen: {error}"),
        }
        match interest {
            Interest::Active(_) => Looked::AndMustAgain,
            Interest::Passive | Interest::None => Looked::Enough,
        }
    }

    /// Has what changed since the last time told. False: the store is not open yet.
    fn see(
        &mut self,
        sandbox: &mut Sandbox,
        interest: &Interest,
        patience: Duration,
        cancel: &Cancel,
    ) -> Result<bool, CallError> {
        let subscribed: &[String] = match interest {
            Interest::None | Interest::Passive => &[],
            Interest::Active(uris) => uris,
        };
        match sandbox.changes(self.token.as_deref(), subscribed, patience, cancel)? {
            Seen::Changes(changes) => {
                self.subscriptions.publish(&changes);
                self.token = Some(changes.token);
                Ok(true)
            }
            Seen::Later => Ok(false),
        }
    }
}
