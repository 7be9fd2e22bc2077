//! Legacy sessions: opened by a handshake, named by an id in a header, ended by the client, by time, or for want of
//! room.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::config::Limits;
use super::stream::{Purpose, Stream};
use crate::protocol::Session;
use crate::transport::ids;

/// Random bytes of a session's id: whoever knows it can read the session's streams.
const ID_BYTES: usize = 16;

/// The stream for what no request asked for, in each session.
const UNSOLICITED: u64 = 0;

/// All sessions.
pub(super) struct Sessions {
    open: Mutex<HashMap<String, Arc<Open>>>,
    limits: Limits,
}

/// A session that is open.
pub(super) struct Open {
    /// What it remembers.
    pub(super) session: Mutex<Session>,
    /// Where what no request asked for waits for a client that asks.
    pub(super) unsolicited: Arc<Stream>,
    next_stream: AtomicU64,
    /// Streams of requests to which a client may come back, oldest first.
    streams: Mutex<VecDeque<Arc<Stream>>>,
    /// Requests and streams that are under way.
    users: AtomicUsize,
    last_used: Mutex<Instant>,
}

/// Every session is in use, and there are as many as there may be.
#[derive(Debug)]
pub(super) struct Full(pub(super) usize);

impl Sessions {
    pub(super) fn new(limits: Limits) -> Arc<Sessions> {
        Arc::new(Sessions {
            open: Mutex::default(),
            limits,
        })
    }

    /// Opens a session and returns its id. One that lay unused longest gives way if need be.
    pub(super) fn open(
        &self,
        session: Session,
        now: Instant,
    ) -> io::Result<Result<(String, Use), Full>> {
        let id = ids::random::<ID_BYTES>()?;
        let opened = Arc::new(Open {
            session: Mutex::new(session),
            unsolicited: Stream::new(UNSOLICITED, Purpose::Unsolicited),
            next_stream: AtomicU64::new(UNSOLICITED + 1),
            streams: Mutex::default(),
            users: AtomicUsize::new(0),
            last_used: Mutex::new(now),
        });
        let used = Use::of(&opened);
        let mut open = self.lock();
        if open.len() >= self.limits.max_sessions {
            let unused = open.iter().filter(|(_, open)| !open.is_in_use());
            let Some(oldest) = unused
                .min_by_key(|(_, open)| open.last_used())
                .map(|(id, _)| id.clone())
            else {
                return Ok(Err(Full(self.limits.max_sessions)));
            };
            if let Some(oldest) = open.remove(&oldest) {
                tracing::info!("a session gives way to a new one");
                oldest.close();
            }
        }
        open.insert(id.clone(), opened);
        Ok(Ok((id, used)))
    }

    /// The session with this id, in use as long as what is returned lives.
    pub(super) fn find(&self, id: &str) -> Option<Use> {
        self.lock().get(id).map(Use::of)
    }

    /// Ends a session. False if there is none.
    pub(super) fn close(&self, id: &str) -> bool {
        let closed = self.lock().remove(id);
        if let Some(open) = &closed {
            open.close();
        }
        closed.is_some()
    }

    /// How long a session may still lie unused. Ended if that time is over; `None` if it is not there any more.
    pub(super) fn time_left(&self, id: &str, now: Instant) -> Option<Duration> {
        let mut open = self.lock();
        let session = open.get(id)?;
        if session.is_in_use() {
            return Some(self.limits.session_idle);
        }
        let unused = now.saturating_duration_since(session.last_used());
        match self.limits.session_idle.checked_sub(unused) {
            Some(left) if !left.is_zero() => Some(left),
            _ => {
                tracing::info!("a session ends that was not used for {unused:?}");
                let expired = open.remove(id);
                if let Some(expired) = expired {
                    expired.close();
                }
                None
            }
        }
    }

    /// Ends all sessions in good order.
    pub(super) fn end(&self) {
        for (_, open) in self.lock().drain() {
            lock(&open.session).end();
            open.close();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Open>>> {
        lock(&self.open)
    }
}

impl Open {
    /// A stream for a request.
    pub(super) fn stream(&self) -> Arc<Stream> {
        let number = self.next_stream.fetch_add(1, Ordering::Relaxed);
        Stream::new(number, Purpose::LegacyRequest)
    }

    /// Keeps the stream of a request, for a client that comes back to it. Finished ones give way when there are too many.
    pub(super) fn keep(&self, stream: Arc<Stream>, limits: &Limits) {
        let mut streams = lock(&self.streams);
        streams.push_back(stream);
        loop {
            let bytes: usize = streams.iter().map(|stream| stream.bytes()).sum();
            if streams.len() <= limits.max_kept_streams && bytes <= limits.max_kept_bytes {
                return;
            }
            let Some(oldest) = streams.iter().position(|stream| stream.is_finished()) else {
                return;
            };
            streams.remove(oldest);
        }
    }

    /// The stream with this number, if it is still kept.
    pub(super) fn kept(&self, number: u64) -> Option<Arc<Stream>> {
        if number == UNSOLICITED {
            return Some(Arc::clone(&self.unsolicited));
        }
        let streams = lock(&self.streams);
        streams
            .iter()
            .find(|stream| stream.number == number)
            .cloned()
    }

    fn close(&self) {
        lock(&self.session).abandon();
        self.unsolicited.finish();
        for stream in lock(&self.streams).drain(..) {
            stream.finish();
        }
    }

    fn is_in_use(&self) -> bool {
        self.users.load(Ordering::Acquire) > 0
    }

    fn last_used(&self) -> Instant {
        *lock(&self.last_used)
    }
}

/// A session in use. It does not expire meanwhile.
pub(super) struct Use(Arc<Open>);

impl Use {
    fn of(open: &Arc<Open>) -> Use {
        open.users.fetch_add(1, Ordering::AcqRel);
        Use(Arc::clone(open))
    }
}

impl std::ops::Deref for Use {
    type Target = Open;

    fn deref(&self) -> &Open {
        &self.0
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        *lock(&self.0.last_used) = Instant::now();
        self.0.users.fetch_sub(1, Ordering::AcqRel);
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "sessions_tests.rs"]
mod tests;
