//! Asking a legacy client: requests of ours, whose answers come back on the same connection. The call waits here
//! meanwhile, and holds nothing that others want.
//!
//! **Invariant:** a call that waits here goes on or is dropped: when all is answered, when the client takes too long, when
//! it cancels the call, or when it is gone.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::asking::Question;
use super::outbox::notification;
use super::pending::PendingCall;
use super::subscriptions::Connection;
use crate::convert;
use crate::jsonrpc::{Id, Outgoing, OutgoingRequest, Reply, Response};
use crate::sandbox::Resumption;
use crate::sandbox::bindings::personal_memory::mcp::types::{Answer, Given};

/// Calls of one connection that may wait for its answers: more than anybody looks at.
const MAX_WAITING: usize = 64;

/// What goes on with a call when it has its answers.
type GoOn = Box<dyn FnOnce(Box<PendingCall>, Resumption) + Send>;

/// What clients are being asked.
pub struct Questions {
    /// How long a client may be silent.
    patience: Duration,
    waiting: Mutex<Vec<Waiting>>,
    /// Questions that were ever asked: each has an id of its own.
    asked: AtomicU64,
}

/// A call and what it waits for.
struct Waiting {
    call: Box<PendingCall>,
    go_on: GoOn,
    /// Questions without an answer yet, by the component's name for them. Never empty.
    open: Vec<(Id, String)>,
    so_far: Resumption,
    /// When the client has been silent too long.
    until: Instant,
}

/// A call whose component asks something, and nobody was asked yet.
pub struct Inquiry {
    pub(super) call: Box<PendingCall>,
    pub(super) questions: Vec<Question>,
    pub(super) so_far: Resumption,
}

/// Parameters of `notifications/cancelled`, for a request of ours. Not a [`serde_json::Value`], as an id is none.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Cancellation<'a> {
    request_id: &'a Id,
    reason: &'a str,
}

impl Inquiry {
    /// Asks. When there are answers, or nobody gave any, `go_on` gets the call; from whatever thread that is noticed on,
    /// so it must not take long. Returns the response to a call that can't wait.
    pub fn begin(
        self,
        go_on: impl FnOnce(Box<PendingCall>, Resumption) + Send + 'static,
    ) -> Option<Response> {
        let service = Arc::clone(&self.call.service);
        service.questions.ask(self, Box::new(go_on))
    }
}

impl Questions {
    pub(super) fn new(patience: Duration) -> Questions {
        Questions {
            patience,
            waiting: Mutex::default(),
            asked: AtomicU64::default(),
        }
    }

    fn ask(&self, inquiry: Inquiry, go_on: GoOn) -> Option<Response> {
        let Inquiry {
            call,
            questions,
            so_far,
        } = inquiry;
        let (connection, call_id) = (call.connection, call.id.clone());
        let (outbox, cancel) = (Arc::clone(&call.outbox), call.cancel.clone());
        let ids: Vec<Id> = questions.iter().map(|_| self.next_id()).collect();
        let keys = questions.iter().map(|question| question.key.clone());
        let open = ids.iter().cloned().zip(keys).collect();
        // An answer may come before the next question is sent.
        {
            let mut waiting = self.lock();
            let of_this = waiting.iter().filter(|other| other.is_of(connection));
            if of_this.count() >= MAX_WAITING {
                let message = format!(
                    "{MAX_WAITING} calls wait for answers of this client already, which is the limit"
                );
                return Some(call.refuse(&message));
            }
            waiting.push(Waiting {
                call,
                go_on,
                open,
                so_far,
                until: Instant::now() + self.patience,
            });
        }
        for (id, question) in ids.into_iter().zip(questions) {
            let request = OutgoingRequest::new(id, question.method, question.params);
            outbox.send(Outgoing::Request(request));
        }
        // The client may have changed its mind meanwhile, when nothing waited yet.
        if cancel.is_cancelled() {
            self.withdraw(connection, &call_id);
        }
        None
    }

    /// An id that no other question has. Text, which no client takes for an id of its own.
    fn next_id(&self) -> Id {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        Id::from(format!("ask-{number}"))
    }

    /// A client answers. What answers none of our questions is ignored.
    pub(super) fn answer(&self, connection: Connection, reply: Reply) {
        let Some(id) = reply.id else { return };
        let mut waiting = self.lock();
        let of_this = |other: &Waiting| other.is_of(connection);
        let found = waiting.iter().enumerate().find_map(|(at, other)| {
            let question = other.open.iter().position(|(open, _)| *open == id)?;
            of_this(other).then_some((at, question))
        });
        let Some((at, question)) = found else { return };
        let answered = &mut waiting[at];
        let (_, key) = answered.open.remove(question);
        let given = convert::given(reply.outcome);
        answered.so_far.answers.push(Answer { key, given });
        if answered.open.is_empty() {
            let answered = waiting.remove(at);
            drop(waiting);
            answered.go_on();
        } else {
            // It is at work.
            answered.until = Instant::now() + self.patience;
        }
    }

    /// The client cancelled a call: what it was asked is withdrawn, and the call is dropped.
    pub(super) fn withdraw(&self, connection: Connection, call: &Id) {
        let withdrawn = self.take(|waiting| waiting.is_of(connection) && waiting.call.id == *call);
        for waiting in withdrawn {
            waiting.take_back("the call was cancelled");
        }
    }

    /// A client is gone, and with it all that waits for its answers.
    pub(super) fn forget(&self, connection: Connection) {
        drop(self.take(|waiting| waiting.is_of(connection)));
    }

    /// We end a connection: its client is told that nobody wants its answers any more.
    pub(super) fn end(&self, connection: Connection) {
        for waiting in self.take(|waiting| waiting.is_of(connection)) {
            waiting.take_back("the server ends");
        }
    }

    /// When somebody will have been silent too long, if anybody is asked anything.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.lock().iter().map(|waiting| waiting.until).min()
    }

    /// Goes on without those who have been silent too long.
    pub fn expire(&self, now: Instant) {
        for mut silent in self.take(|waiting| waiting.until <= now) {
            silent.take_back("no answer in time");
            let seconds = self.patience.as_secs_f64();
            let reason = format!("the client gave no answer within {seconds} s");
            let answers = silent.open.drain(..).map(|(_, key)| Answer {
                key,
                given: Given::Failed(reason.clone()),
            });
            silent.so_far.answers.extend(answers);
            silent.go_on();
        }
    }

    /// Taken out first: what comes next must not wait for the lock, nor others for that.
    fn take(&self, which: impl Fn(&Waiting) -> bool) -> Vec<Waiting> {
        let mut waiting = self.lock();
        waiting.extract_if(.., |waiting| which(waiting)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn is_of(&self, connection: Connection) -> bool {
        self.call.connection == connection
    }

    fn go_on(self) {
        (self.go_on)(self.call, self.so_far);
    }

    /// Tells the client that nobody wants its answers any more. That need not arrive: an answer to a question that is not
    /// open is ignored.
    fn take_back(&self, reason: &str) {
        for (request_id, _) in &self.open {
            let params = Cancellation { request_id, reason };
            if let Some(message) = notification("notifications/cancelled", params) {
                self.call.outbox.offer(message);
            }
        }
    }
}
