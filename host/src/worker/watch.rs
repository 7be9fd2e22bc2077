//! Notices what changed in the component's store, by whomever, and has it told to those who want to know.

use std::sync::Arc;
use std::time::Duration;

use crate::protocol::{Interest, Subscriptions};
use crate::sandbox::{Sandbox, Seen};
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

    /// Remembers the present state if somebody began to listen, so that what comes next is a change.
    pub(super) fn begin(&mut self, sandbox: &mut Sandbox) {
        if self.interest() != Interest::None && self.token.is_none() {
            self.look(sandbox, PATIENCE);
        }
    }

    /// Tells those who listen already what changed until now.
    pub(super) fn catch_up(&mut self, sandbox: &mut Sandbox) {
        if self.token.is_some() {
            self.look(sandbox, PATIENCE);
        }
    }

    /// Looks for changes, and tells of them. With `patience` for a process that has the store.
    pub(super) fn look(&mut self, sandbox: &mut Sandbox, patience: Duration) -> Looked {
        let interest = self.interest();
        let subscribed: &[String] = match &interest {
            Interest::None => return Looked::Enough,
            Interest::Passive => &[],
            Interest::Active(uris) => uris,
        };
        match sandbox.changes(self.token.as_deref(), subscribed, patience) {
            Ok(Seen::Changes(changes)) => {
                self.subscriptions.publish(&changes);
                self.token = Some(changes.token);
            }
            Ok(Seen::Later) => return Looked::Nothing,
            Err(error) => tracing::warn!("changes can't be seen: {error}"),
        }
        match interest {
            Interest::Active(_) => Looked::AndMustAgain,
            Interest::Passive | Interest::None => Looked::Enough,
        }
    }
}
