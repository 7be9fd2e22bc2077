//! The way back to a client.

use std::sync::Arc;

use serde::Serialize;

use crate::jsonrpc::{Outgoing, OutgoingNotification};

/// Where a transport takes the messages for one client, in the order in which they are to arrive.
pub trait Outbox: Send + Sync {
    /// Sends a message. Waits for a client that reads slowly, so the caller must hold nothing that others wait for.
    fn send(&self, message: Outgoing);

    /// Sends a message that nothing depends on. Never waits: it is dropped if the client does not keep up.
    fn offer(&self, notification: OutgoingNotification);

    /// Where messages go that belong to no request of the client's, if that is elsewhere.
    fn unsolicited(&self) -> Option<Arc<dyn Outbox>> {
        None
    }
}

/// A notification, unless it can't be written, which is for the log: nobody waits for it.
pub(super) fn notification(
    method: &'static str,
    params: impl Serialize,
) -> Option<OutgoingNotification> {
    OutgoingNotification::new(method, params)
        .inspect_err(|error| tracing::error!("{method}: {}", error.message))
        .ok()
}
