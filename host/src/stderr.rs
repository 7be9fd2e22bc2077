//! The process's standard error, for everything that is said there while a server runs.
//!
//! **Invariant:** nobody who says something waits. Apps take the pipe and some never read it; a server that waited for
//! them, perhaps with the store's lock in its hands, would stop others as well. What does not fit is dropped, and how
//! much that was is said as soon as there is room.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// Bytes that may wait to be written: what a component may print in a few calls, and some hundred lines of log.
const MAX_WAITING_BYTES: usize = 256 << 10;

/// Standard error.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stderr;

/// Started when there is something to say, which there usually is not.
static WRITER: OnceLock<Arc<Writer>> = OnceLock::new();

#[derive(Default)]
struct Writer {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: Vec<u8>,
    dropped: usize,
    /// Something was taken out of `waiting` and is not written yet.
    is_writing: bool,
}

impl Stderr {
    /// Says something, or drops it.
    pub fn say(text: impl AsRef<[u8]>) {
        let writer = WRITER.get_or_init(|| {
            let writer = Arc::new(Writer::default());
            let writing = Arc::clone(&writer);
            thread::spawn(move || writing.run());
            writer
        });
        let text = text.as_ref();
        let mut state = writer.lock();
        if state.waiting.len() + text.len() <= MAX_WAITING_BYTES {
            state.waiting.extend_from_slice(text);
        } else {
            state.dropped += text.len();
        }
        writer.changed.notify_all();
    }

    /// Waits until all is written, for so long at most.
    pub fn flush_within(patience: Duration) {
        if let Some(writer) = WRITER.get() {
            let unwritten = |state: &mut State| state.is_writing || !state.waiting.is_empty();
            // Poisoned or not, there is nothing else to wait for.
            let _ = writer
                .changed
                .wait_timeout_while(writer.lock(), patience, unwritten);
        }
    }
}

impl Writer {
    fn run(&self) {
        loop {
            let nothing = |state: &mut State| state.waiting.is_empty() && state.dropped == 0;
            let mut state = self
                .changed
                .wait_while(self.lock(), nothing)
                .unwrap_or_else(PoisonError::into_inner);
            let mut text = std::mem::take(&mut state.waiting);
            let dropped = std::mem::take(&mut state.dropped);
            if dropped > 0 {
                text.extend_from_slice(
                    format!("\n(nobody read this in time; {dropped} bytes were dropped here)\n")
                        .as_bytes(),
                );
            }
            state.is_writing = true;
            drop(state);
            // Nothing can be done, or told, when standard error is gone.
            let _ = io::stderr().write_all(&text);
            self.lock().is_writing = false;
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// For a log, which writes an entry at a time.
impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Stderr::say(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
