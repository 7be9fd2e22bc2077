//! Who wants to hear of changes: legacy connections, and the streams that `subscriptions/listen` opens.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::outbox::{Outbox, notification};
use super::wants::{Tagged, Wants};
use crate::jsonrpc::{Id, Outgoing, OutgoingNotification, Response, RpcError};
use crate::sandbox::{ChangeSet, Lists};

/// Resources that one connection may watch, and one stream. Each is asked about every time, so there must be an end to
/// it; a client that shows this many at once can watch the list instead.
pub(super) const MAX_WATCHED: usize = 1000;

/// Streams that one connection may have open. A client needs one, or one for each of its views.
const MAX_STREAMS: usize = 64;

/// All that are told of changes of one component. Shared by its connections.
#[derive(Default)]
pub struct Subscriptions {
    subscribers: Mutex<Vec<Subscriber>>,
    next_connection: AtomicU64,
}

/// Tells connections apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Connection(u64);

struct Subscriber {
    connection: Connection,
    /// The request that opened the stream; `None` is the legacy connection itself.
    stream: Option<Id>,
    wants: Wants,
    outbox: Arc<dyn Outbox>,
}

/// How closely changes are to be watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Nobody listens.
    None,
    /// Legacy clients that were told that lists can change, and asked for nothing: they hear of it after calls.
    Passive,
    /// Somebody asked to be told, of these resources among others.
    Active(Vec<String>),
}

impl Subscriptions {
    /// A new connection's number.
    pub(super) fn connect(&self) -> Connection {
        Connection(self.next_connection.fetch_add(1, Ordering::Relaxed))
    }

    /// How closely changes are to be watched now.
    pub fn interest(&self) -> Interest {
        let subscribers = self.lock();
        if subscribers.iter().any(Subscriber::has_asked) {
            let watched = subscribers
                .iter()
                .flat_map(|subscriber| &subscriber.wants.resources);
            let watched: BTreeSet<&String> = watched.collect();
            return Interest::Active(watched.into_iter().cloned().collect());
        }
        // A stream may be open for nothing, where nothing can change or nothing was wanted.
        let wants_nothing = |subscriber: &Subscriber| subscriber.wants == Wants::default();
        if subscribers.iter().all(wants_nothing) {
            Interest::None
        } else {
            Interest::Passive
        }
    }

    /// Tells everybody what they want to know of what changed.
    pub fn publish(&self, changes: &ChangeSet) {
        // Collected first: sending may wait for a client, and subscribing must not wait for that.
        let messages: Vec<(Arc<dyn Outbox>, OutgoingNotification)> = self
            .lock()
            .iter()
            .flat_map(|subscriber| {
                let messages = subscriber
                    .wants
                    .messages(changes, subscriber.stream.as_ref());
                messages.map(|message| (Arc::clone(&subscriber.outbox), message))
            })
            .collect();
        for (outbox, message) in messages {
            outbox.send(Outgoing::Notification(message));
        }
    }

    /// A legacy connection is told from now on when these lists change.
    pub(super) fn attend(&self, connection: Connection, lists: Lists, outbox: &Arc<dyn Outbox>) {
        let mut subscribers = self.lock();
        legacy(&mut subscribers, connection, outbox).wants.lists = lists;
    }

    /// A legacy connection watches a resource from now on.
    pub(super) fn subscribe(
        &self,
        connection: Connection,
        uri: String,
        outbox: &Arc<dyn Outbox>,
    ) -> Result<(), RpcError> {
        let mut subscribers = self.lock();
        let wants = &mut legacy(&mut subscribers, connection, outbox).wants;
        if wants.resources.len() >= MAX_WATCHED && !wants.resources.contains(&uri) {
            return Err(RpcError::invalid_params(format!(
                "this connection watches {MAX_WATCHED} resources already, which is the limit"
            )));
        }
        wants.resources.insert(uri);
        Ok(())
    }

    /// A legacy connection does not watch a resource any more, if it ever did.
    pub(super) fn unsubscribe(&self, connection: Connection, uri: &str) {
        let mut subscribers = self.lock();
        if let Some(subscriber) = subscribers
            .iter_mut()
            .find(|subscriber| subscriber.is(connection, None))
        {
            subscriber.wants.resources.remove(uri);
        }
    }

    /// Opens a stream and acknowledges it, which must be the first that is sent on it: so the caller must be the one who
    /// publishes.
    pub(super) fn listen(
        &self,
        connection: Connection,
        id: Id,
        wants: Wants,
        outbox: &Arc<dyn Outbox>,
    ) -> Result<(), RpcError> {
        let is_stream = |subscriber: &&Subscriber| {
            subscriber.connection == connection && subscriber.stream.is_some()
        };
        if self.lock().iter().filter(is_stream).count() >= MAX_STREAMS {
            return Err(RpcError::invalid_params(format!(
                "this connection has {MAX_STREAMS} subscriptions already, which is the limit"
            )));
        }
        let params = Tagged::new(Some(&id)).with("notifications", wants.to_json());
        if let Some(message) = notification("notifications/subscriptions/acknowledged", params) {
            outbox.send(Outgoing::Notification(message));
        }
        self.lock().push(Subscriber {
            connection,
            stream: Some(id),
            wants,
            outbox: Arc::clone(outbox),
        });
        Ok(())
    }

    /// Whether a request has opened a stream that is still open.
    pub(super) fn is_open(&self, connection: Connection, id: &Id) -> bool {
        self.lock()
            .iter()
            .any(|subscriber| subscriber.is(connection, Some(id)))
    }

    /// The client ended a stream, if there is one: nothing more is sent on it.
    pub(super) fn cancel(&self, connection: Connection, id: &Id) {
        self.lock()
            .retain(|subscriber| !subscriber.is(connection, Some(id)));
    }

    /// A connection is gone: nobody on it is told anything any more.
    pub(super) fn forget(&self, connection: Connection) {
        self.lock()
            .retain(|subscriber| subscriber.connection != connection);
    }

    /// We end a connection. Each of its streams is told twice, as two pages of the specification want it: by a
    /// cancellation and by the final response, which says `about_us` as every result does.
    pub(super) fn end(&self, connection: Connection, about_us: &Value) {
        let ended: Vec<Subscriber> = self
            .lock()
            .extract_if(.., |subscriber| subscriber.connection == connection)
            .collect();
        for subscriber in ended {
            let Some(id) = subscriber.stream else {
                continue;
            };
            let params = Tagged::cancellation(&id, "the server ends");
            if let Some(message) = notification("notifications/cancelled", params) {
                subscriber.outbox.send(Outgoing::Notification(message));
            }
            let result = Tagged::final_result(&id, about_us);
            let response = Response::new(id.clone(), Ok(result));
            subscriber.outbox.send(Outgoing::Response(response));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Subscriber>> {
        self.subscribers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscriber {
    fn is(&self, connection: Connection, stream: Option<&Id>) -> bool {
        self.connection == connection && self.stream.as_ref() == stream
    }

    /// Whether the client asked for anything, rather than just having been told that lists can change.
    fn has_asked(&self) -> bool {
        match self.stream {
            Some(_) => self.wants != Wants::default(),
            None => !self.wants.resources.is_empty(),
        }
    }
}

/// What a legacy connection wants, in the place where it is kept.
fn legacy<'a>(
    subscribers: &'a mut Vec<Subscriber>,
    connection: Connection,
    outbox: &Arc<dyn Outbox>,
) -> &'a mut Subscriber {
    let known = subscribers
        .iter()
        .position(|subscriber| subscriber.is(connection, None));
    let at = known.unwrap_or_else(|| {
        subscribers.push(Subscriber {
            connection,
            stream: None,
            wants: Wants::default(),
            outbox: outbox.unsolicited().unwrap_or_else(|| Arc::clone(outbox)),
        });
        subscribers.len() - 1
    });
    &mut subscribers[at]
}
