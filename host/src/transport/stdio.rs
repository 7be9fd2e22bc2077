//! Standard input and output: one JSON message a line, and nothing else on standard output from the first byte to the
//! last.
//!
//! The reader (the calling thread) parses lines and answers what needs no component, also while a call runs. A worker
//! thread owns the component and makes calls in order of arrival.

use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde::Serialize;

use super::lines::{Line, read_line};
use crate::jsonrpc::{self, INVALID_REQUEST, OutgoingNotification, Response, RpcError};
use crate::protocol::{Outbox, PendingCall, Session, Step};
use crate::sandbox::Sandbox;

/// The longest line that is read, in bytes. The longest text that may be saved fits a hundred times; images, which other
/// components may take, fit as well.
pub const DEFAULT_MAX_LINE_BYTES: usize = 4 << 20;

/// Calls that may wait. A client that has more under way gets an error for the rest rather than a wait without end.
const MAX_WAITING_CALLS: usize = 256;

/// How long calls that are under way may take when the input ends: the client is going away.
const END_GRACE: Duration = Duration::from_secs(1);

/// Serves one client until its input ends.
///
/// # Errors
///
/// Input that can't be read. Output that can't be written is no error: the client is gone.
pub fn serve(
    mut input: impl BufRead,
    output: impl Write + Send + 'static,
    sandbox: Sandbox,
    session_id: String,
    max_line_bytes: usize,
) -> io::Result<()> {
    let output = Arc::new(Output(Mutex::new(Box::new(output))));
    let mut session = Session::new(Arc::new(sandbox.profile().clone()), session_id);
    let worker = Worker::start(sandbox, Arc::clone(&output));
    let read = read_all(&mut input, &mut session, &worker, &output, max_line_bytes);
    worker.finish();
    read
}

/// Reads to the end of the input: answers what needs no component, passes the rest on.
fn read_all(
    input: &mut impl BufRead,
    session: &mut Session,
    worker: &Worker,
    output: &Output,
    max_line_bytes: usize,
) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        let step = match read_line(input, &mut line, max_line_bytes)? {
            Line::End => return Ok(()),
            Line::Complete if line.iter().all(u8::is_ascii_whitespace) => continue,
            Line::Complete => session.receive(jsonrpc::parse(&line)),
            Line::TooLong(length) => {
                let message =
                    format!("the message has {length} bytes, the limit is {max_line_bytes}");
                session.refuse(RpcError::new(INVALID_REQUEST, message))
            }
        };
        match step {
            Step::Nothing => {}
            Step::Reply(response) => output.send_line(&response),
            Step::Call(_) | Step::Batch(_) => worker.enqueue(step, output),
        }
    }
}

/// The thread that owns the component.
struct Worker {
    jobs: SyncSender<Step>,
    ended: Receiver<()>,
}

impl Worker {
    fn start(mut sandbox: Sandbox, output: Arc<Output>) -> Worker {
        let (jobs, queue) = sync_channel::<Step>(MAX_WAITING_CALLS);
        let (ending, ended) = sync_channel(1);
        thread::spawn(move || {
            for job in queue {
                match job {
                    Step::Batch(steps) => {
                        let perform = |step| perform(step, &mut sandbox, &output);
                        output.send_batch(steps.into_iter().filter_map(perform).collect());
                    }
                    step => {
                        if let Some(response) = perform(step, &mut sandbox, &output) {
                            output.send_line(&response);
                        }
                    }
                }
            }
            // Nobody listens any more if the grace is over.
            let _ = ending.send(());
        });
        Worker { jobs, ended }
    }

    fn enqueue(&self, job: Step, output: &Output) {
        let (job, reason) = match self.jobs.try_send(job) {
            Ok(()) => return,
            Err(TrySendError::Full(job)) => (
                job,
                format!(
                    "too many calls are waiting already (the limit is {MAX_WAITING_CALLS}); try again later"
                ),
            ),
            Err(TrySendError::Disconnected(job)) => {
                (job, "the server is broken; restart it".to_owned())
            }
        };
        refuse(job, &reason, output);
    }

    /// Lets the calls that are under way finish, for a while. What is not finished then dies with the process.
    fn finish(self) {
        drop(self.jobs);
        if self.ended.recv_timeout(END_GRACE).is_err() {
            tracing::warn!(
                "the client is gone; calls that took longer than {END_GRACE:?} are abandoned"
            );
        }
    }
}

/// Answers a job that can't be done, in the form in which it came.
fn refuse(job: Step, reason: &str, output: &Output) {
    let refuse_one = |step| match step {
        Step::Reply(response) => Some(response),
        Step::Call(call) => Some(call.refuse(reason)),
        // Batches do not nest.
        Step::Nothing | Step::Batch(_) => None,
    };
    match job {
        Step::Batch(steps) => output.send_batch(steps.into_iter().filter_map(refuse_one).collect()),
        step => {
            if let Some(response) = refuse_one(step) {
                output.send_line(&response);
            }
        }
    }
}

/// Does what a step says; returns what is to be sent.
fn perform(step: Step, sandbox: &mut Sandbox, output: &Arc<Output>) -> Option<Response> {
    match step {
        Step::Reply(response) => Some(response),
        Step::Call(pending) => make_call(pending, sandbox, output),
        // Batches do not nest: `jsonrpc` reads their members as messages.
        Step::Nothing | Step::Batch(_) => None,
    }
}

fn make_call(
    pending: Box<PendingCall>,
    sandbox: &mut Sandbox,
    output: &Arc<Output>,
) -> Option<Response> {
    if pending.cancel.is_cancelled() {
        return None;
    }
    let outbox: Arc<dyn Outbox> = Arc::<Output>::clone(output);
    let outcome = sandbox.call(
        &pending.context,
        &pending.call,
        &pending.cancel,
        pending.notifier(outbox),
    );
    pending.finish(outcome)
}

/// Where lines go: the only writer of standard output.
struct Output(Mutex<Box<dyn Write + Send>>);

impl Output {
    /// Sends the responses to a batch, which has none if it held notifications only.
    fn send_batch(&self, responses: Vec<Response>) {
        if !responses.is_empty() {
            self.send_line(&responses);
        }
    }

    /// Sends one message. When the client is gone nobody is left to tell.
    fn send_line(&self, message: &impl Serialize) {
        let mut line = match serde_json::to_vec(message) {
            Ok(line) => line,
            Err(error) => return tracing::error!("a message can't be written: {error}"),
        };
        line.push(b'\n');
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = output.write_all(&line).and_then(|()| output.flush()) {
            tracing::debug!("the client is gone: {error}");
        }
    }
}

impl Outbox for Output {
    fn send(&self, notification: &OutgoingNotification) {
        self.send_line(notification);
    }
}
