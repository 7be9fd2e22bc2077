//! Standard input and output: one JSON message a line, and nothing else on standard output from the first byte to the
//! last.
//!
//! A reader thread parses lines and answers what needs no component, also while a call runs; a writer thread owns
//! standard output; the worker makes calls. The calling thread waits for the end.

use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::lines::{Line, read_line};
use super::output::Output;
use crate::embedder::Embedder;
use crate::jsonrpc::{self, INVALID_REQUEST, Outgoing, RpcError};
use crate::protocol::{Outbox, Service, Session, Step};
use crate::sandbox::Sandbox;
use crate::signals;
use crate::worker::Worker;

/// The longest line that is read, in bytes. The longest text that may be saved fits a hundred times; images, which other
/// components may take, fit as well.
pub const DEFAULT_MAX_LINE_BYTES: usize = 4 << 20;

/// How long calls that are under way may take at the end: the client is going away.
const END_GRACE: Duration = Duration::from_secs(1);

/// How long the client may take to read what was sent before the end.
const FLUSH_GRACE: Duration = Duration::from_secs(1);

/// What a client may do at most.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Bytes of a message.
    pub max_line_bytes: usize,
    /// Calls of the component a second, in the long run.
    pub max_calls_per_second: u32,
}

/// Why a connection ends.
enum End {
    /// There is nothing more to read, or it can't be read.
    Input(io::Result<()>),
    /// Nobody reads what is written.
    Output,
    /// The process was asked to end.
    Signal(&'static str),
}

/// Serves one client until its input ends, it stops reading, or the process is asked to end.
///
/// # Errors
///
/// Input that can't be read; signals that can't be listened for. Output that can't be written is no error: the client is
/// gone.
pub fn serve(
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
    sandbox: Sandbox,
    service: Arc<Service>,
    embedder: Option<Embedder>,
    session_id: String,
    bounds: Bounds,
) -> io::Result<()> {
    let (ending, end) = channel();
    signals::on_termination(announcing(&ending, End::Signal))?;
    let gone = announcing(&ending, |()| End::Output);
    let output = Arc::new(Output::start(output, move || gone(())));
    let session = Session::new(Arc::clone(&service), session_id);
    let session = Arc::new(Mutex::new(session));
    let worker = Worker::start(sandbox, service, embedder, bounds.max_calls_per_second);
    let worker = Arc::new(worker);

    let reader = Reader {
        session: Arc::clone(&session),
        worker: Arc::clone(&worker),
        outbox: Arc::<Output>::clone(&output),
        max_line_bytes: bounds.max_line_bytes,
    };
    let ended = announcing(&ending, End::Input);
    thread::spawn(move || ended(reader.read_all(input)));

    let end = end.recv().unwrap_or(End::Output);
    if let End::Signal(name) = end {
        tracing::info!("{name}: the server ends");
    }
    worker.finish(END_GRACE);
    lock(&session).end();
    output.finish(FLUSH_GRACE);
    match end {
        End::Input(read) => read,
        End::Output | End::Signal(_) => Ok(()),
    }
}

/// A function that announces the end. Only the first one to do so is heard.
fn announcing<T, F: Fn(T) -> End>(ending: &Sender<End>, why: F) -> impl Fn(T) + use<T, F> {
    let ending = ending.clone();
    move |what| {
        let _ = ending.send(why(what));
    }
}

fn lock(session: &Mutex<Session>) -> MutexGuard<'_, Session> {
    session.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the reader thread has.
struct Reader {
    session: Arc<Mutex<Session>>,
    worker: Arc<Worker>,
    outbox: Arc<dyn Outbox>,
    max_line_bytes: usize,
}

impl Reader {
    /// Reads to the end of the input: answers what needs no component, passes the rest on.
    fn read_all(&self, mut input: impl BufRead) -> io::Result<()> {
        let mut line = Vec::new();
        loop {
            let step = match read_line(&mut input, &mut line, self.max_line_bytes)? {
                Line::End => return Ok(()),
                Line::Complete if line.iter().all(u8::is_ascii_whitespace) => continue,
                Line::Complete => lock(&self.session).receive(jsonrpc::parse(&line), &self.outbox),
                Line::TooLong(length) => {
                    let limit = self.max_line_bytes;
                    let message = format!("the message has {length} bytes, the limit is {limit}");
                    lock(&self.session).refuse(RpcError::new(INVALID_REQUEST, message))
                }
            };
            match step {
                Step::Nothing => {}
                Step::Reply(response) => self.outbox.send(Outgoing::Response(response)),
                Step::Call(_) | Step::Batch(_) => {
                    self.worker.enqueue(step, line.len(), &self.outbox);
                }
            }
        }
    }
}
