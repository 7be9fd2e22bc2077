//! Where a guest's standard output and error go: to the process's standard *error*, a bounded amount per call. The
//! process's standard output is the transport, and nothing in a guest can reach it.
//!
//! Standard error may be a person's terminal, which obeys control characters: none gets through.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};

use crate::stderr::Stderr;

/// Bytes that a guest may print per call. Generous for diagnostics.
const BYTES_PER_CALL: usize = 32 * 1024;

/// A stream that a guest prints to.
#[derive(Clone)]
pub(super) struct GuestOutput {
    /// Bytes left in this call; `usize::MAX` once the guest was told off.
    left: Arc<AtomicUsize>,
}

const SILENCED: usize = usize::MAX;

impl GuestOutput {
    pub(super) fn new() -> GuestOutput {
        GuestOutput {
            left: Arc::new(AtomicUsize::new(BYTES_PER_CALL)),
        }
    }

    /// A new call starts.
    pub(super) fn refill(&self) {
        self.left.store(BYTES_PER_CALL, Ordering::Relaxed);
    }

    fn print(&self, bytes: &[u8]) {
        let left = self.left.load(Ordering::Relaxed);
        if left == SILENCED {
            return;
        }
        Stderr::say(harmless(&bytes[..bytes.len().min(left)]));
        if bytes.len() <= left {
            self.left.store(left - bytes.len(), Ordering::Relaxed);
        } else {
            Stderr::say(format!(
                "\n(the component printed more than {BYTES_PER_CALL} bytes; the rest is dropped)\n"
            ));
            self.left.store(SILENCED, Ordering::Relaxed);
        }
    }
}

/// Text that moves no cursor, sets no title and fills no clipboard, of what a guest prints. What is no text is replaced.
fn harmless(bytes: &[u8]) -> String {
    let visible = |character: char| match character {
        '\n' | '\t' => character,
        _ if character.is_control() => char::REPLACEMENT_CHARACTER,
        _ => character,
    };
    String::from_utf8_lossy(bytes)
        .chars()
        .map(visible)
        .collect()
}

impl IsTerminal for GuestOutput {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for GuestOutput {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }
}

impl AsyncWrite for GuestOutput {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.print(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_does_not_reach_it() {
        assert_eq!(harmless(b"plain \xc3\xa9\n\ttext"), "plain é\n\ttext");
        for sequence in [
            &b"\x1b]0;title\x07"[..],
            b"\x1b[31m",
            b"\r\x08\x7f\0",
            "\u{9b}2J".as_bytes(),
            b"\x9b2J",
        ] {
            let left = harmless(sequence);
            assert!(!left.chars().any(char::is_control), "{left:?}");
        }
    }
}
