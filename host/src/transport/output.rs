//! Standard output: one message a line, written by a thread of its own.
//!
//! **Invariant:** what waits to be written is bounded. Whoever sends more than a client reads waits for it, and a client
//! that reads nothing at all for a long time counts as gone.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::jsonrpc::{Outgoing, OutgoingNotification};
use crate::protocol::Outbox;

/// Bytes that may wait: the longest replies of some hundred calls. A single message may be longer, and waits alone.
const MAX_WAITING_BYTES: usize = 8 << 20;

/// How long a client may read nothing while all the room is taken: longer than a person keeps a debugger at a breakpoint
/// with the app still sending.
const STALLED: Duration = Duration::from_secs(60);

/// The way to a client's standard input.
pub(super) struct Output(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// Called once, when the client turns out to be gone.
    on_gone: Box<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct State {
    lines: VecDeque<Vec<u8>>,
    /// Of `lines`, and of what is being written.
    waiting: usize,
    /// Nothing more will be sent.
    closed: bool,
    /// The client does not read any more.
    gone: bool,
}

impl Output {
    /// Starts the thread. `on_gone` is called when the client turns out to be gone.
    pub(super) fn start(
        output: impl Write + Send + 'static,
        on_gone: impl Fn() + Send + Sync + 'static,
    ) -> Output {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            on_gone: Box::new(on_gone),
        });
        let writing = Arc::clone(&shared);
        thread::spawn(move || {
            if let Err(error) = writing.write_all(output) {
                writing.give_up(&mut writing.lock(), &error.to_string());
            }
        });
        Output(shared)
    }

    /// Waits until everything that was sent is written, for so long at most. Nothing is sent after that.
    pub(super) fn finish(&self, patience: Duration) {
        let mut state = self.0.lock();
        state.closed = true;
        self.0.changed.notify_all();
        let began = Instant::now();
        while state.waiting > 0 && !state.gone {
            let Some(left) = patience.checked_sub(began.elapsed()) else {
                tracing::warn!("the client does not read; {} bytes are lost", state.waiting);
                return;
            };
            state = self.0.wait(state, left);
        }
    }

    fn send_line(&self, message: &impl Serialize, may_wait: bool) {
        let mut line = match serde_json::to_vec(message) {
            Ok(line) => line,
            Err(error) => return tracing::error!("a message can't be written: {error}"),
        };
        line.push(b'\n');
        let shared = &self.0;
        let mut state = shared.lock();
        let began = Instant::now();
        while !state.gone && state.waiting > 0 && state.waiting + line.len() > MAX_WAITING_BYTES {
            match STALLED.checked_sub(began.elapsed()) {
                Some(left) if may_wait => state = shared.wait(state, left),
                Some(_) => return,
                None => shared.give_up(&mut state, &format!("it has read nothing for {STALLED:?}")),
            }
        }
        // When the client is gone nobody is left to tell.
        if !state.gone && !state.closed {
            state.waiting += line.len();
            state.lines.push_back(line);
            shared.changed.notify_all();
        }
    }
}

impl Shared {
    /// Writes what is sent until nothing more will be.
    fn write_all(&self, mut output: impl Write) -> std::io::Result<()> {
        let mut state = self.lock();
        loop {
            if state.gone {
                return Ok(());
            }
            let Some(line) = state.lines.pop_front() else {
                if state.closed {
                    return Ok(());
                }
                state = self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(state);
            output.write_all(&line).and_then(|()| output.flush())?;
            state = self.lock();
            state.waiting -= line.len();
            self.changed.notify_all();
        }
    }

    fn give_up(&self, state: &mut State, reason: &str) {
        if !std::mem::replace(&mut state.gone, true) {
            tracing::debug!("the client is gone: {reason}");
            state.lines.clear();
            self.changed.notify_all();
            (self.on_gone)();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>, at_most: Duration) -> MutexGuard<'a, State> {
        self.changed
            .wait_timeout(state, at_most)
            .unwrap_or_else(PoisonError::into_inner)
            .0
    }
}

impl Outbox for Output {
    fn send(&self, message: Outgoing) {
        self.send_line(&message, true);
    }

    fn offer(&self, notification: OutgoingNotification) {
        self.send_line(&notification, false);
    }
}
