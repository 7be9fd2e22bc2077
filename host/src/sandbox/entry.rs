//! The ways into a component: a call for a client, a look at what changed, and work that nobody waits for. Each goes in
//! under the store's lock, to an instance whose store is open, and leaves a usable instance or none.

use std::sync::Arc;
use std::time::{Duration, Instant};

use wasmtime::Store;

use super::bindings::administered::exports::personal_memory::memory::admin::{Evaluation, Failure};
use super::bindings::exports::personal_memory::mcp::changes::ChangeSet;
use super::bindings::exports::personal_memory::mcp::maintenance::StepOutcome;
use super::bindings::personal_memory::mcp::types::{Pending, RequestContext, Resumption};
use super::guest::Guest;
use super::interfaces::Exports;
use super::{Abnormal, Call, CallError, Cancel, Notifier, Outcome, Sandbox};
use crate::store_lock::PATIENCE;

/// How long the store is opened at a time. Other processes may use it in between, and a cancellation is heard.
const OPENING_SLICE: Duration = Duration::from_millis(250);

/// How long others get to take the store between two slices of work: longer than they pause between two attempts.
pub(crate) const BETWEEN_SLICES: Duration = Duration::from_millis(10);

/// How long a call waits for the store to be opened. A million memories take less; what takes longer goes on with the
/// next call.
const MAX_OPENING: Duration = Duration::from_secs(300);

/// How long the worker is kept from calls by work that nobody waits for.
const MAINTENANCE_SLICE: Duration = Duration::from_millis(50);

/// What a look at the store gave.
#[derive(Debug)]
pub enum Seen {
    /// What changed.
    Changes(ChangeSet),
    /// It is not possible yet: the store is not open.
    Later,
}

/// What became of a slice of maintenance.
#[derive(Debug)]
pub enum Maintained {
    /// Nothing is left to do.
    Done,
    /// There is more.
    More,
    /// It can go on with these.
    Wanting(Pending),
    /// It failed; the details went to the log.
    Failed,
}

/// Where an evaluation stands.
#[derive(Debug)]
pub enum Scored {
    /// The report, in JSON.
    Report(String),
    /// It goes on with these.
    Wanting(Pending),
}

/// What came of an attempt to enter.
enum Entered<T> {
    Returned(T),
    /// The store is not open yet; the time for now is used up.
    Opening,
}

impl Sandbox {
    /// Makes one call. Blocks until it returned, its deadline passed, it was cancelled or it broke; before that, until no
    /// other process uses the store and the store is open.
    pub fn call(
        &mut self,
        context: &RequestContext,
        call: &Call,
        cancel: &Cancel,
        notifier: Option<Arc<dyn Notifier>>,
    ) -> Result<Outcome, CallError> {
        let deadline = self.maker.deadline();
        let context = RequestContext {
            deadline_ms: milliseconds(deadline),
            ..context.clone()
        };
        let patience = call.uses_store().then_some(PATIENCE);
        let make_call = async |exports: &Exports, store: &mut Store<Guest>| {
            exports.call(store, &context, call).await
        };
        self.enter_once_open(patience, cancel, notifier, make_call)?
    }

    /// Looks at what changed since a token, among the resources that clients watch. With `patience` for a process that
    /// has the store, and for the store to be opened; without any, that goes on with the next look.
    ///
    /// # Errors
    ///
    /// Another process has the store, nobody wants to know any more, the component failed, or it can't tell.
    pub fn changes(
        &mut self,
        token: Option<&str>,
        subscribed: &[String],
        patience: Duration,
        cancel: &Cancel,
    ) -> Result<Seen, CallError> {
        let look = async |exports: &Exports, store: &mut Store<Guest>| match &exports.changes {
            Some(changes) => changes.call_since(store, token, subscribed).await.map(Some),
            None => Ok(None),
        };
        let began = Instant::now();
        loop {
            match self.enter(Some(patience), cancel, None, look)? {
                Entered::Returned(Some(Ok(changes))) => return Ok(Seen::Changes(changes)),
                Entered::Returned(Some(Err(reason))) => return Err(CallError::Unavailable(reason)),
                Entered::Returned(None) => return Err(CallError::NotExported("changes")),
                Entered::Opening if !patience.is_zero() && began.elapsed() < MAX_OPENING => {
                    std::thread::sleep(BETWEEN_SLICES);
                }
                Entered::Opening => return Ok(Seen::Later),
            }
        }
    }

    /// Does a slice of the work that nobody waits for, with what the slice before wanted to have.
    pub fn maintain(&mut self, resume: Option<Resumption>) -> Maintained {
        if !self
            .instance
            .as_ref()
            .is_some_and(|instance| instance.is_open)
        {
            // There is nothing to tidy up after.
            return Maintained::Done;
        }
        let budget = whole_milliseconds(MAINTENANCE_SLICE);
        let step = async |exports: &Exports, store: &mut Store<Guest>| match &exports.maintenance {
            Some(maintenance) => maintenance.call_step(store, budget, resume.as_ref()).await,
            None => Ok(Ok(StepOutcome::Done)),
        };
        // What was got for it is not thrown away because another process has the store just now.
        let patience = if resume.is_some() {
            PATIENCE
        } else {
            Duration::ZERO
        };
        match self.enter(Some(patience), &Cancel::default(), None, step) {
            Ok(Entered::Returned(Ok(StepOutcome::Done))) => Maintained::Done,
            Ok(Entered::Returned(Ok(StepOutcome::More)) | Entered::Opening) => Maintained::More,
            Ok(Entered::Returned(Ok(StepOutcome::Needs(pending)))) => Maintained::Wanting(pending),
            Ok(Entered::Returned(Err(reason))) => {
                tracing::warn!("maintenance failed: {reason}");
                Maintained::Failed
            }
            // Whoever has the store is at work; there is time.
            Err(CallError::Busy(_)) => Maintained::Failed,
            Err(error) => {
                tracing::warn!("maintenance failed: {error}");
                Maintained::Failed
            }
        }
    }

    /// Scores retrieval on documents, queries and judgements that are given; the store is not touched.
    ///
    /// # Errors
    ///
    /// The component refuses the request, which is [`CallError::Unavailable`] with its reason, or has nothing to score.
    pub fn evaluate(
        &mut self,
        request: &String,
        resume: Option<&Resumption>,
    ) -> Result<Scored, CallError> {
        let score = async |exports: &Exports, store: &mut Store<Guest>| match &exports.admin {
            Some(admin) => admin.call_evaluate(store, request, resume).await.map(Some),
            None => Ok(None),
        };
        match self.enter(None, &Cancel::default(), None, score)? {
            Entered::Returned(Some(Ok(Evaluation::Complete(report)))) => Ok(Scored::Report(report)),
            Entered::Returned(Some(Ok(Evaluation::Needs(pending)))) => Ok(Scored::Wanting(pending)),
            Entered::Returned(Some(Err(failure))) => match failure {
                Failure::NotFound(why) | Failure::Invalid(why) | Failure::Failed(why) => {
                    Err(CallError::Unavailable(why))
                }
            },
            Entered::Returned(None) | Entered::Opening => Err(CallError::NotExported("admin")),
        }
    }

    /// Enters the component as soon as its store is open.
    pub(super) fn enter_once_open<T>(
        &mut self,
        patience: Option<Duration>,
        cancel: &Cancel,
        notifier: Option<Arc<dyn Notifier>>,
        calls: impl AsyncFn(&Exports, &mut Store<Guest>) -> wasmtime::Result<T>,
    ) -> Result<T, CallError> {
        let began = Instant::now();
        loop {
            match self.enter(patience, cancel, notifier.clone(), &calls)? {
                Entered::Returned(answer) => return Ok(answer),
                Entered::Opening if began.elapsed() < MAX_OPENING => {
                    std::thread::sleep(BETWEEN_SLICES);
                }
                Entered::Opening => {
                    return Err(CallError::Unavailable(format!(
                        "the store could not be opened within {} s; the next call goes on with it",
                        MAX_OPENING.as_secs()
                    )));
                }
            }
        }
    }

    /// Enters the component. With `patience` for whoever has the store, if the store is to be used.
    fn enter<T>(
        &mut self,
        patience: Option<Duration>,
        cancel: &Cancel,
        notifier: Option<Arc<dyn Notifier>>,
        calls: impl AsyncFnOnce(&Exports, &mut Store<Guest>) -> wasmtime::Result<T>,
    ) -> Result<Entered<T>, CallError> {
        // Held to the end, also of what a broken call leaves under way (for a while: see `instance::Driver`).
        let held = match (&mut self.lock, patience) {
            (Some(lock), Some(patience)) => lock.acquire(patience, || cancel.is_cancelled())?,
            _ => None,
        };
        if held.as_ref().is_some_and(|held| held.replaced) {
            // It has the old directory open.
            self.instance = None;
        }
        let instance = match self.instance.take() {
            Some(instance) => instance,
            None => self.maker.make().map_err(broken_start)?.0,
        };
        let must_open = patience.is_some() && !instance.is_open;
        // A deadline holds for what is done in one go, and opening must leave most of it to the call.
        let slice = OPENING_SLICE.min(self.maker.deadline() / 4);
        let (answer, instance) =
            self.maker
                .enter(instance, cancel, notifier, async |exports, store| {
                    if must_open && !open(exports, store, slice).await? {
                        return Ok(Entered::Opening);
                    }
                    calls(exports, store).await.map(Entered::Returned)
                });
        self.instance = instance;
        let answer = answer.map_err(CallError::Abnormal)?;
        if let (Entered::Returned(_), true, Some(instance)) =
            (&answer, must_open, &mut self.instance)
        {
            instance.is_open = true;
        }
        Ok(answer)
    }
}

/// Opens the store a little further. True when it is open, or can't be: then the call finds out, and tells the client.
async fn open(
    exports: &Exports,
    store: &mut Store<Guest>,
    slice: Duration,
) -> wasmtime::Result<bool> {
    let Some(maintenance) = &exports.maintenance else {
        return Ok(true);
    };
    match maintenance
        .call_open(store, whole_milliseconds(slice))
        .await?
    {
        Ok(is_open) => Ok(is_open),
        Err(reason) => {
            tracing::warn!("the store can't be opened: {reason}");
            Ok(true)
        }
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// For budgets, of which nothing is not a useful one.
fn whole_milliseconds(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis())
        .unwrap_or(u32::MAX)
        .max(1)
}

fn broken_start(error: anyhow::Error) -> CallError {
    tracing::error!("the component could not be started: {error:#}");
    CallError::Abnormal(Abnormal::Start)
}
