//! The thread that owns the component: makes calls in order of arrival, whoever sent them, and does what nobody waits
//! for while there are none.
//!
//! **Invariant:** while no call is waiting, nothing is left to do and nobody has subscribed to anything, the thread
//! sleeps without end.

mod agenda;
mod provider;
mod queue;
mod rate;
mod watch;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use self::agenda::{Agenda, Due};
use self::provider::{Client, Provider};
use self::queue::{Queue, Received};
pub use self::rate::DEFAULT_MAX_CALLS_PER_SECOND;
use self::rate::Rate;
use self::watch::Watch;
use crate::embedder::Embedder;
use crate::jsonrpc::{Outgoing, Response};
use crate::protocol::{Finished, Interest, Outbox, PendingCall, Resumed, Service, Step};
use crate::sandbox::{Cancel, Maintained, Resumption, Sandbox};

/// How long a call that was cancelled at the end may take to come to rest: a broken instance waits a second for its file
/// operations.
const REST: Duration = Duration::from_millis(1500);

/// The thread, as others see it.
pub struct Worker {
    queue: queue::Sender<Work>,
    rate: Rate,
    running: Arc<Running>,
}

/// What the thread is doing, for those who want it to stop.
#[derive(Default)]
struct Running {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Stops the call that runs, or ran last.
    cancel: Option<Cancel>,
    /// No further call is to be made.
    stopping: bool,
    /// The thread is at its end.
    ended: bool,
}

/// What waits for the thread.
enum Work {
    /// Something new.
    Job(Job),
    /// Something that wanted to have this before it could go on.
    Resume(Client, Resumption),
}

/// What is to be done, and where the answer goes.
struct Job {
    step: Step,
    outbox: Arc<dyn Outbox>,
}

impl Worker {
    /// Starts the thread. More calls than `max_calls_per_second` are refused, but for bursts.
    pub fn start(
        sandbox: Sandbox,
        service: Arc<Service>,
        embedder: Option<Embedder>,
        max_calls_per_second: u32,
    ) -> Worker {
        let (queue, jobs) = queue::bounded();
        let running = Arc::new(Running::default());
        let mut thread = Thread {
            watch: Watch::new(Arc::clone(&service.subscriptions)),
            service,
            agenda: Agenda::default(),
            provider: Provider::start(embedder, queue.clone()),
            queue: queue.clone(),
            running: Arc::clone(&running),
            sandbox,
        };
        thread::spawn(move || {
            thread.run(&jobs);
            thread.running.end();
        });
        Worker {
            queue,
            rate: Rate::new(max_calls_per_second, Instant::now()),
            running,
        }
    }

    /// Has a step done in its turn. `bytes` is how long its message was, for what waits must not grow without end. What
    /// does not fit is refused at once.
    pub fn enqueue(&self, step: Step, bytes: usize, outbox: &Arc<dyn Outbox>) {
        let job = Job {
            step,
            outbox: Arc::clone(outbox),
        };
        if let Err(wait) = self.rate.take(job.step.calls(), Instant::now()) {
            return job.refuse(&self.rate.refusal(wait));
        }
        if let Err((Work::Job(job), reason)) = self.queue.send(Work::Job(job), bytes) {
            job.refuse(&reason);
        }
    }

    /// Lets the calls that were sent finish for a while, then cancels what is left and waits for it to come to rest.
    /// Nothing is taken from now on.
    pub fn finish(&self, grace: Duration) {
        self.queue.close();
        if self.running.wait_for_end(grace) {
            return;
        }
        tracing::warn!("calls that were not finished {grace:?} after the end are cancelled");
        self.running.stop();
        if !self.running.wait_for_end(REST) {
            tracing::warn!("a call could not be stopped within {REST:?}; it ends with the process");
        }
    }
}

impl Running {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) {
        self.lock().ended = true;
        self.changed.notify_all();
    }

    /// Whether the end comes within this time.
    fn wait_for_end(&self, at_most: Duration) -> bool {
        let waited = self
            .changed
            .wait_timeout_while(self.lock(), at_most, |state| !state.ended);
        waited.unwrap_or_else(PoisonError::into_inner).0.ended
    }

    fn stop(&self) {
        let mut state = self.lock();
        state.stopping = true;
        if let Some(cancel) = &state.cancel {
            cancel.cancel();
        }
    }

    /// Whether a call may begin; it can be stopped from now on.
    fn begin(&self, cancel: &Cancel) -> bool {
        let mut state = self.lock();
        state.cancel = Some(cancel.clone());
        !state.stopping
    }
}

/// What the thread has.
struct Thread {
    sandbox: Sandbox,
    service: Arc<Service>,
    watch: Watch,
    agenda: Agenda,
    provider: Provider,
    /// For what goes on later.
    queue: queue::Sender<Work>,
    running: Arc<Running>,
}

impl Thread {
    fn run(&mut self, work: &Queue<Work>) {
        loop {
            let silent = self.service.questions.next_deadline();
            let next = self.agenda.next().into_iter().chain(silent).min();
            let received = work.receive(next);
            self.service.questions.expire(Instant::now());
            match received {
                Received::Job(Work::Job(job)) => self.perform(job),
                Received::Job(Work::Resume(client, resumption)) => self.resume(client, resumption),
                Received::Nothing => self.do_what_is_due(),
                Received::Closed => return,
            }
        }
    }

    fn perform(&mut self, job: Job) {
        let Job { step, outbox } = job;
        match step {
            Step::Batch(steps) => {
                let responses: Vec<Response> = steps
                    .into_iter()
                    .filter_map(|step| self.answer(step))
                    .collect();
                if !responses.is_empty() {
                    outbox.send(Outgoing::Batch(responses));
                }
            }
            step => {
                if let Some(response) = self.answer(step) {
                    outbox.send(Outgoing::Response(response));
                }
            }
        }
    }

    /// Does what a step says; returns what is to be sent.
    fn answer(&mut self, step: Step) -> Option<Response> {
        match step {
            Step::Reply(response) => Some(response),
            Step::Call(pending) => self.make_call(pending),
            // Batches do not nest: `jsonrpc` reads their members as messages.
            Step::Nothing | Step::Batch(_) => None,
        }
    }

    fn make_call(&mut self, pending: Box<PendingCall>) -> Option<Response> {
        if pending.cancel.is_cancelled() || !self.running.begin(&pending.cancel) {
            return None;
        }
        let uses_store = pending.call.uses_store();
        let opens = pending.opens_subscription();
        if uses_store || opens {
            // What this very call changes is to be noticed, and what changes once it is acknowledged that somebody
            // listens.
            let begun = self.watch.begin(&mut self.sandbox, &pending.cancel, opens);
            if let Err(error) = begun {
                let finished = pending.finish(Err(error));
                return self.conclude(finished);
            }
        }
        let notifier = pending.notifier();
        let outcome = self
            .sandbox
            .call(&pending.context, &pending.call, &pending.cancel, notifier);
        let finished = pending.finish(outcome);
        let interest = self.watch.interest();
        if uses_store || matches!(interest, Interest::Active(_)) {
            self.agenda.called(Instant::now(), &interest);
        }
        self.conclude(finished)
    }

    /// What is to be sent of a call, if it has come to its end; if not, it goes on when it has what it wants.
    fn conclude(&self, finished: Finished) -> Option<Response> {
        match finished {
            Finished::Silently => None,
            Finished::With(response) => Some(response),
            Finished::Wanting(call, wanted) => {
                self.provider.get(Client::Call(call), wanted);
                None
            }
            Finished::Asking(inquiry) => {
                let queue = self.queue.clone();
                inquiry.begin(move |call, resumption| {
                    queue.put_back(Work::Resume(Client::Call(call), resumption));
                })
            }
        }
    }

    /// Goes on with what had to wait for something.
    fn resume(&mut self, client: Client, resumption: Resumption) {
        match client {
            Client::Call(call) => {
                let outbox = Arc::clone(&call.outbox);
                let response = match call.resume(resumption) {
                    Resumed::Again(call) => self.make_call(call),
                    Resumed::Finished(finished) => self.conclude(finished),
                };
                if let Some(response) = response {
                    outbox.send(Outgoing::Response(response));
                }
            }
            Client::Maintenance => self.maintain(Some(resumption)),
        }
    }

    fn do_what_is_due(&mut self) {
        match self.agenda.take(Instant::now()) {
            Some(Due::Changes) => {
                let looked = self.watch.look(&mut self.sandbox);
                self.agenda.looked(Instant::now(), &looked);
            }
            Some(Due::Maintenance) => self.maintain(None),
            None => {}
        }
    }

    fn maintain(&mut self, resumption: Option<Resumption>) {
        let outcome = self.sandbox.maintain(resumption);
        self.agenda.maintained(Instant::now(), &outcome);
        if let Maintained::Wanting(wanted) = outcome {
            self.provider.get(Client::Maintenance, wanted);
        }
    }
}

impl Job {
    /// Answers a job that can't be done, in the form in which it came.
    fn refuse(self, reason: &str) {
        let refuse_one = |step| match step {
            Step::Reply(response) => Some(response),
            Step::Call(call) => Some(call.refuse(reason)),
            // Batches do not nest.
            Step::Nothing | Step::Batch(_) => None,
        };
        match self.step {
            Step::Batch(steps) => {
                let responses: Vec<Response> = steps.into_iter().filter_map(refuse_one).collect();
                if !responses.is_empty() {
                    self.outbox.send(Outgoing::Batch(responses));
                }
            }
            step => {
                if let Some(response) = refuse_one(step) {
                    self.outbox.send(Outgoing::Response(response));
                }
            }
        }
    }
}
