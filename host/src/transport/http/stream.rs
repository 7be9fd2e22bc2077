//! A stream of messages to one client: anybody writes, one connection at a time reads.
//!
//! **Invariant:** nobody who writes ever waits. The thread that makes calls serves all clients, so it must not wait for
//! the slowest of them. What waits to be read is bounded instead, and what happens beyond that depends on what the
//! stream is for: see [`Purpose`].

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use axum::body::Bytes;

use crate::jsonrpc::{Outgoing, OutgoingNotification};
use crate::protocol::Outbox;

/// Bytes that may wait for a client: many thousands of notifications. A single message may be longer, and waits alone.
const MAX_WAITING_BYTES: usize = 1 << 20;

/// Bytes that are kept of what was read already, for a client that lost its connection.
const MAX_REPLAY_BYTES: usize = 256 << 10;

/// What a stream is for. All are bounded; this says what gives way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// One request of the modern era, which may be a subscription. What was read is gone, and a client that does not keep
    /// up loses the stream: it notices, and subscribes again.
    Request,
    /// One legacy request. The same, but what was read is kept for a while.
    LegacyRequest,
    /// What no request asked for. While nobody reads, the oldest messages give way.
    Unsolicited,
}

/// A message on its way.
#[derive(Clone, Debug)]
pub(super) struct Event {
    /// One line of JSON.
    pub(super) data: Bytes,
    /// What the last one on a request's stream is.
    pub(super) answer: Option<Answer>,
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// The error's code, if it is an error.
    pub(super) code: Option<i64>,
}

/// A stream.
pub(super) struct Stream {
    /// Tells it from the others of its session.
    pub(super) number: u64,
    purpose: Purpose,
    state: Mutex<State>,
}

struct State {
    /// Those that were not read yet, and before them those that are kept.
    events: VecDeque<Event>,
    /// The number of the first of these. Event 0 is the one that opens a stream.
    first: u64,
    /// The number of the one that is read next.
    next: u64,
    /// Bytes of what was not read.
    waiting: usize,
    /// Bytes of what was read and is kept.
    kept: usize,
    end: Option<End>,
    /// Who reads. Whoever began before does not any more.
    reader: u64,
    waker: Option<Waker>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// Nothing more will come.
    Finished,
    /// The client did not keep up.
    Lost,
}

/// The client did not keep up with its stream.
#[derive(Debug)]
pub(super) struct Lost;

impl Stream {
    pub(super) fn new(number: u64, purpose: Purpose) -> Arc<Stream> {
        Arc::new(Stream {
            number,
            purpose,
            state: Mutex::new(State {
                events: VecDeque::new(),
                first: 1,
                next: 1,
                waiting: 0,
                kept: 0,
                end: None,
                reader: 0,
                waker: None,
            }),
        })
    }

    /// Begins to read where the last reader left off, or after the event with this number if that is still there.
    /// Another reader finds that the stream has ended.
    pub(super) fn read(self: &Arc<Stream>, after: Option<u64>) -> Reader {
        let mut state = self.lock();
        state.reader += 1;
        if let Some(after) = after {
            state.go_to(after.saturating_add(1));
        }
        state.wake();
        Reader {
            stream: Arc::clone(self),
            number: state.reader,
        }
    }

    /// Nothing more will come.
    pub(super) fn finish(&self) {
        let mut state = self.lock();
        state.end.get_or_insert(End::Finished);
        state.wake();
    }

    /// Whether nothing more will come.
    pub(super) fn is_finished(&self) -> bool {
        self.lock().end.is_some()
    }

    /// Bytes of all that is kept, whether it was read or not.
    pub(super) fn bytes(&self) -> usize {
        let state = self.lock();
        state.waiting + state.kept
    }

    fn push(&self, event: Event, may_be_dropped: bool) {
        let mut state = self.lock();
        if state.end.is_some() {
            return;
        }
        let length = event.data.len();
        if state.waiting > 0 && state.waiting + length > MAX_WAITING_BYTES {
            match self.purpose {
                _ if may_be_dropped => return,
                Purpose::Unsolicited => state.make_room_for(length),
                // The last one, and what waits before it is bounded.
                _ if event.answer.is_some() => {}
                Purpose::Request | Purpose::LegacyRequest => {
                    tracing::warn!("a client does not read its stream, which is given up");
                    state.lose();
                    return;
                }
            }
        }
        if event.answer.is_some() {
            state.end = Some(End::Finished);
        }
        state.waiting += length;
        state.events.push_back(event);
        state.wake();
    }

    fn keeps(&self) -> bool {
        self.purpose != Purpose::Request
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Takes the next one that was not read.
    fn take(&mut self, keeps: bool) -> Option<(u64, Event)> {
        let at = usize::try_from(self.next - self.first).ok()?;
        let event = self.events.get(at)?.clone();
        let number = self.next;
        self.next += 1;
        self.waiting -= event.data.len();
        self.kept += event.data.len();
        let limit = if keeps { MAX_REPLAY_BYTES } else { 0 };
        while self.kept > limit && self.first < self.next {
            self.forget_first();
        }
        Some((number, event))
    }

    /// Forgets the oldest one, which was read.
    fn forget_first(&mut self) {
        if let Some(event) = self.events.pop_front() {
            self.kept -= event.data.len();
            self.first += 1;
        }
    }

    /// Goes on with this number, or with the next one that is there.
    fn go_to(&mut self, number: u64) {
        let end = self.first + self.events.len() as u64;
        self.next = number.clamp(self.first, end);
        let read = usize::try_from(self.next - self.first).unwrap_or(usize::MAX);
        let bytes = |events: std::collections::vec_deque::Iter<'_, Event>| {
            events.map(|event| event.data.len()).sum::<usize>()
        };
        let kept = bytes(self.events.range(..read.min(self.events.len())));
        self.waiting = self.waiting + self.kept - kept;
        self.kept = kept;
    }

    /// Drops the oldest ones until there is room.
    fn make_room_for(&mut self, length: usize) {
        while self.first < self.next {
            self.forget_first();
        }
        while self.waiting > 0 && self.waiting + length > MAX_WAITING_BYTES {
            if let Some(event) = self.events.pop_front() {
                self.waiting -= event.data.len();
                self.first += 1;
            }
        }
        self.next = self.next.max(self.first);
    }

    fn lose(&mut self) {
        self.first += self.events.len() as u64;
        self.next = self.first;
        self.events.clear();
        self.waiting = 0;
        self.kept = 0;
        self.end = Some(End::Lost);
        self.wake();
    }
}

/// Who reads a stream at present.
pub(super) struct Reader {
    stream: Arc<Stream>,
    number: u64,
}

impl Reader {
    /// The number of the stream that is read.
    pub(super) fn stream(&self) -> u64 {
        self.stream.number
    }

    /// The next event with its number; `None` at the end.
    pub(super) fn poll_next(
        &mut self,
        context: &Context<'_>,
    ) -> Poll<Option<Result<(u64, Event), Lost>>> {
        let keeps = self.stream.keeps();
        let mut state = self.stream.lock();
        if state.reader != self.number {
            return Poll::Ready(None);
        }
        if let Some(event) = state.take(keeps) {
            return Poll::Ready(Some(Ok(event)));
        }
        match state.end {
            Some(End::Finished) => Poll::Ready(None),
            Some(End::Lost) => Poll::Ready(Some(Err(Lost))),
            None => {
                state.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }

    /// Waits for the next event; `None` at the end.
    pub(super) async fn next(&mut self) -> Option<Result<(u64, Event), Lost>> {
        poll_fn(|context| self.poll_next(context)).await
    }
}

/// The way into a request's stream. When nobody can send on it any more, it has ended.
pub(super) struct RequestOutbox {
    pub(super) stream: Arc<Stream>,
    /// For what belongs to no request. `None` in the modern era, where there is no such thing.
    pub(super) unsolicited: Option<Arc<Stream>>,
}

impl Outbox for RequestOutbox {
    fn send(&self, message: Outgoing) {
        send(&self.stream, &message);
    }

    fn offer(&self, notification: OutgoingNotification) {
        offer(&self.stream, &notification);
    }

    fn unsolicited(&self) -> Option<Arc<dyn Outbox>> {
        let stream = Arc::clone(self.unsolicited.as_ref()?);
        Some(Arc::new(UnsolicitedOutbox(stream)))
    }
}

impl Drop for RequestOutbox {
    fn drop(&mut self) {
        self.stream.finish();
    }
}

/// The way into the stream of what no request asked for.
struct UnsolicitedOutbox(Arc<Stream>);

impl Outbox for UnsolicitedOutbox {
    fn send(&self, message: Outgoing) {
        send(&self.0, &message);
    }

    fn offer(&self, notification: OutgoingNotification) {
        offer(&self.0, &notification);
    }
}

fn send(stream: &Stream, message: &Outgoing) {
    let answer = match message {
        Outgoing::Response(response) => Some(Answer {
            code: response.error_code(),
        }),
        Outgoing::Batch(_) => Some(Answer { code: None }),
        _ => None,
    };
    if let Some(data) = written(message) {
        stream.push(Event { data, answer }, false);
    }
}

fn offer(stream: &Stream, notification: &OutgoingNotification) {
    if let Some(data) = written(notification) {
        stream.push(Event { data, answer: None }, true);
    }
}

/// A message as it is sent. JSON of `serde_json` has no line breaks, which would end an event's line.
pub(super) fn written(message: &impl serde::Serialize) -> Option<Bytes> {
    serde_json::to_vec(message)
        .inspect_err(|error| tracing::error!("a message can't be written: {error}"))
        .ok()
        .map(Bytes::from)
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
