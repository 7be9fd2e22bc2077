//! The modern era: each message says all about itself, so there is nothing to remember. Closing the connection cancels.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use axum::http::StatusCode;
use axum::response::Response;

use super::answer::{self, Era, refuse};
use super::connections::Peer;
use super::events::Resumable;
use super::server::Server;
use super::sessions::lock;
use super::stream::{Purpose, RequestOutbox, Stream};
use crate::jsonrpc::{self, Incoming, Message};
use crate::protocol::{Envelope, Outbox, Session, Step};

/// Takes a message.
pub(super) async fn post(
    server: &Arc<Server>,
    peer: &Peer,
    incoming: Incoming,
    envelope: &Envelope,
    bytes: usize,
) -> Response {
    if let Incoming::Single(message) = &incoming {
        match message {
            Message::Request(request) => {
                if let Err(error) = envelope.check(request, &server.parameters) {
                    let refusal = jsonrpc::Response::new(request.id.clone(), Err::<(), _>(error));
                    return answer::at_once(&refusal, Era::Modern);
                }
            }
            Message::Response { .. } => {
                let message = "a client sends no responses in this protocol version";
                return refuse(StatusCode::BAD_REQUEST, message);
            }
            _ => {}
        }
    }
    // Ids are the client's own affair, so requests of different clients must not meet.
    let mut session = server.session(peer.id.clone());
    let stream = Stream::new(0, Purpose::Request);
    let reader = stream.read(None);
    let outbox: Arc<dyn Outbox> = Arc::new(RequestOutbox {
        stream,
        unsolicited: None,
    });
    match session.receive(incoming, &outbox) {
        Step::Nothing => answer::accepted(),
        Step::Reply(response) => answer::at_once(&response, Era::Modern),
        step => {
            let call = server.calls.begin(session);
            server.worker.enqueue(step, bytes, &outbox);
            // From now on the stream ends when nobody else can send on it.
            drop(outbox);
            let heartbeat = server.config.limits.heartbeat;
            answer::when_there(reader, Era::Modern, Resumable::No, heartbeat, call).await
        }
    }
}

/// Requests under way.
#[derive(Default)]
pub(super) struct Calls {
    open: Mutex<HashMap<u64, Arc<Session>>>,
    next: AtomicU64,
}

/// A request under way. It is cancelled when this is dropped, which is nothing to one that was answered.
struct UnderWay {
    calls: Arc<Calls>,
    number: u64,
}

impl Calls {
    fn begin(self: &Arc<Calls>, session: Session) -> impl Send + 'static {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        lock(&self.open).insert(number, Arc::new(session));
        UnderWay {
            calls: Arc::clone(self),
            number,
        }
    }

    /// Ends all subscriptions in good order.
    pub(super) fn end(&self) {
        let open: Vec<Arc<Session>> = lock(&self.open).values().cloned().collect();
        for session in open {
            session.end();
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let session = lock(&self.calls.open).remove(&self.number);
        if let Some(session) = session {
            session.abandon();
        }
    }
}
