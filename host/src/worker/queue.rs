//! What waits for the worker: first in, first out, and only so much.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError};
use std::time::Instant;

/// Calls that may wait. A client that has more under way gets an error for the rest rather than a wait without end.
const MAX_WAITING: usize = 256;

/// Bytes of the messages that may wait: a few of the longest, or all that may wait of usual ones.
const MAX_WAITING_BYTES: usize = 16 << 20;

/// The end that jobs go into, for any number of threads.
pub(super) struct Sender<T> {
    /// `None` is the last.
    jobs: mpsc::Sender<Option<(T, usize)>>,
    waiting: Arc<Waiting>,
}

/// The end that they come out of.
pub(super) struct Queue<T> {
    jobs: mpsc::Receiver<Option<(T, usize)>>,
    waiting: Arc<Waiting>,
}

#[derive(Default)]
struct Waiting {
    count: AtomicUsize,
    bytes: AtomicUsize,
    closed: AtomicBool,
}

/// What came out.
pub(super) enum Received<T> {
    Job(T),
    /// Nothing did, up to the time that was given.
    Nothing,
    /// Nothing ever will.
    Closed,
}

pub(super) fn bounded<T>() -> (Sender<T>, Queue<T>) {
    let (sender, receiver) = mpsc::channel();
    let waiting = Arc::new(Waiting::default());
    let queue = Queue {
        jobs: receiver,
        waiting: Arc::clone(&waiting),
    };
    (
        Sender {
            jobs: sender,
            waiting,
        },
        queue,
    )
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        Sender {
            jobs: self.jobs.clone(),
            waiting: Arc::clone(&self.waiting),
        }
    }
}

impl<T> Sender<T> {
    /// Adds a job, if there is room. It comes back with the reason if there is not.
    pub(super) fn send(&self, job: T, bytes: usize) -> Result<(), (T, String)> {
        let Waiting {
            count,
            bytes: sum,
            closed,
        } = &*self.waiting;
        // Several connections may send at once; each counts itself before it looks.
        let before = (
            count.fetch_add(1, Ordering::AcqRel),
            sum.fetch_add(bytes, Ordering::AcqRel),
        );
        let reason = if closed.load(Ordering::Acquire) {
            "the server is ending".to_owned()
        } else if before.0 >= MAX_WAITING {
            format!(
                "too many calls are waiting already (the limit is {MAX_WAITING}); try again later"
            )
        } else if before.0 > 0 && before.1 + bytes > MAX_WAITING_BYTES {
            format!(
                "the calls that are waiting are too large together (the limit is {MAX_WAITING_BYTES} bytes); try again later"
            )
        } else {
            match self.jobs.send(Some((job, bytes))) {
                Ok(()) => return Ok(()),
                Err(mpsc::SendError(returned)) => {
                    self.waiting.remove(bytes);
                    let broken = "the server is broken; restart it".to_owned();
                    return returned.map_or(Ok(()), |(job, _)| Err((job, broken)));
                }
            }
        };
        self.waiting.remove(bytes);
        Err((job, reason))
    }

    /// Adds something that was let in before, whatever else waits.
    pub(super) fn put_back(&self, job: T) {
        self.waiting.count.fetch_add(1, Ordering::AcqRel);
        // Fails if the other end is gone, and nobody waits for it then.
        let _ = self.jobs.send(Some((job, 0)));
    }

    /// Nothing is added from now on. What was added before comes out, and then the end.
    pub(super) fn close(&self) {
        self.waiting.closed.store(true, Ordering::Release);
        // Fails if the other end is gone, which is as well.
        let _ = self.jobs.send(None);
    }
}

impl Waiting {
    fn remove(&self, bytes: usize) {
        self.count.fetch_sub(1, Ordering::AcqRel);
        self.bytes.fetch_sub(bytes, Ordering::AcqRel);
    }
}

impl<T> Queue<T> {
    /// The next job. Waits for one until `until`, or without end.
    pub(super) fn receive(&self, until: Option<Instant>) -> Received<T> {
        let received = match until {
            None => self.jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(until) => match self.jobs.try_recv() {
                Ok(job) => Ok(job),
                Err(TryRecvError::Disconnected) => Err(RecvTimeoutError::Disconnected),
                Err(TryRecvError::Empty) => {
                    let wait = until.saturating_duration_since(Instant::now());
                    self.jobs.recv_timeout(wait)
                }
            },
        };
        match received {
            Ok(Some((job, bytes))) => {
                self.waiting.remove(bytes);
                Received::Job(job)
            }
            Err(RecvTimeoutError::Timeout) => Received::Nothing,
            Ok(None) | Err(RecvTimeoutError::Disconnected) => Received::Closed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_bounded_in_number_and_in_bytes() {
        let (sender, queue) = bounded();
        for job in 0..MAX_WAITING {
            assert!(sender.send(job, 0).is_ok());
        }
        let (job, reason) = sender.send(999, 0).unwrap_err();
        assert_eq!(job, 999);
        assert!(reason.contains("256"), "{reason}");
        assert!(matches!(queue.receive(None), Received::Job(0)));
        assert!(
            sender.send(999, MAX_WAITING_BYTES + 1).is_err(),
            "others wait"
        );
        assert!(sender.send(999, MAX_WAITING_BYTES).is_ok());
        assert!(matches!(queue.receive(None), Received::Job(1)));
        assert!(sender.send(1000, 1).is_err());
    }

    #[test]
    fn one_that_is_too_large_may_wait_alone() {
        let (sender, queue) = bounded();
        assert!(sender.send("large", MAX_WAITING_BYTES + 1).is_ok());
        assert!(sender.send("small", 1).is_err());
        assert!(matches!(queue.receive(None), Received::Job("large")));
        assert!(sender.send("small", 1).is_ok());
    }

    #[test]
    fn what_was_sent_before_the_end_comes_out() {
        let (sender, queue) = bounded();
        sender.send("last", 1).unwrap();
        sender.close();
        assert!(sender.send("late", 1).is_err());
        assert!(matches!(queue.receive(None), Received::Job("last")));
        assert!(matches!(queue.receive(None), Received::Closed));
    }
}
