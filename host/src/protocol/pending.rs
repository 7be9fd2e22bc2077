//! A call between its request and its response.

use std::sync::{Arc, PoisonError};

use serde_json::{Value, json};

use super::asking::Question;
use super::error;
use super::notify::CallNotifier;
use super::outbox::Outbox;
use super::parameters::Parameters;
use super::questions::Inquiry;
use super::scope::Scope;
use super::service::Service;
use super::session::{COMPLETE, InFlight, decorate};
use super::subscriptions::Connection;
use super::wants::Wants;
use crate::convert::{self, Converted};
use crate::jsonrpc::{INTERNAL_ERROR, Id, Response, RpcError};
use crate::sandbox::bindings::personal_memory::mcp::types::{
    Error as ComponentError, Pending, RequestContext, UnknownResource,
};
use crate::sandbox::{Call, CallError, Cancel, Notifier, Outcome};

/// A call that is to be made, and what is needed to answer it. Dropping it unanswered frees its id.
pub struct PendingCall {
    /// The call.
    pub call: Call,
    /// Who makes it.
    pub context: RequestContext,
    /// Stops it.
    pub cancel: Cancel,
    /// Where its response goes, and what is said before that.
    pub outbox: Arc<dyn Outbox>,
    pub(super) purpose: Purpose,
    pub(super) id: Id,
    pub(super) scope: Scope,
    pub(super) service: Arc<Service>,
    pub(super) connection: Connection,
    pub(super) in_flight: InFlight,
    pub(super) parameters: Option<Arc<Parameters>>,
    /// What the client is to be asked when the host has got the rest.
    pub(super) questions: Vec<Question>,
    /// How often the component wanted something, and how often it only made room for others.
    pub(super) rounds: usize,
    pub(super) slices: usize,
}

/// How often a component may want something before it answers. Some ask twice; one that asks for ever is given up.
const MAX_ROUNDS: usize = 10;

/// How often a call may make room for others: for an hour, in slices of a second.
const MAX_SLICES: usize = 3600;

/// What came of a call.
pub enum Finished {
    /// There is nothing to send: the call was cancelled, or opened a stream.
    Silently,
    /// This is to be sent.
    With(Response),
    /// The component wants to have something first. The call goes on with it: [`PendingCall::resume`].
    Wanting(Box<PendingCall>, Pending),
    /// The client is to be asked: [`Inquiry::begin`]. The call goes on with the answers.
    Asking(Inquiry),
}

/// What a call goes on with.
pub enum Resumed {
    /// It is to be made again.
    Again(Box<PendingCall>),
    /// It wants more, or came to its end.
    Finished(Finished),
}

/// What a call's outcome is for.
pub(super) enum Purpose {
    /// It is the answer.
    Answer,
    /// It decides whether a legacy client can watch this resource.
    Subscribe(String),
    /// It decides which of these a stream tells of.
    Listen(Wants),
}

impl PendingCall {
    /// Where the call's progress and log messages go; `None` when the client wants neither.
    pub fn notifier(&self) -> Option<Arc<dyn Notifier>> {
        let wanted = self.scope.progress_token.is_some() || self.scope.log_level.is_some();
        wanted.then(|| {
            Arc::new(CallNotifier::new(
                Arc::clone(&self.outbox),
                self.scope.clone(),
                self.cancel.clone(),
            )) as Arc<dyn Notifier>
        })
    }

    /// Whether somebody listens from now on if this call succeeds.
    pub fn opens_subscription(&self) -> bool {
        self.service.profile.interfaces.changes && !matches!(self.purpose, Purpose::Answer)
    }

    /// Decides what a call's outcome means. The id is free again when this returns, unless it names a stream now or the
    /// call is to be made again. A stream that was opened is acknowledged here.
    pub fn finish(mut self: Box<Self>, outcome: Result<Outcome, CallError>) -> Finished {
        if self.cancel.is_cancelled() {
            return Finished::Silently;
        }
        let result = match std::mem::replace(&mut self.purpose, Purpose::Answer) {
            Purpose::Answer => match self.result(outcome) {
                Ok(Answered::Result(result)) => Ok(result),
                Ok(Answered::Wanting(pending)) => return self.want(pending),
                Err(error) => Err(error),
            },
            Purpose::Subscribe(uri) => self.subscribe(uri, outcome),
            Purpose::Listen(wants) => match self.listen(wants, outcome) {
                Ok(()) => return Finished::Silently,
                Err(error) => Err(error),
            },
        };
        self.answer(result)
    }

    /// The call's end.
    pub(super) fn answer(self: Box<Self>, result: Result<Value, RpcError>) -> Finished {
        Finished::With(Response::new(self.id.clone(), result))
    }

    /// The response to a call that can't be made.
    pub fn refuse(self, message: &str) -> Response {
        let error = RpcError::new(INTERNAL_ERROR, message);
        Response::new(self.id.clone(), Err::<Value, _>(error))
    }

    fn result(&self, outcome: Result<Outcome, CallError>) -> Result<Answered, RpcError> {
        let outcome = outcome.map_err(|error| self.error(error))?;
        if let (Outcome::Tools(page), Some(parameters)) = (&outcome, &self.parameters) {
            parameters.learn(page);
        }
        match convert::outcome(outcome, self.scope.version).map_err(error::from_unusable)? {
            Converted::Complete { result, cache } => {
                let result = Value::Object(result);
                let result = decorate(result, COMPLETE, cache, &self.scope, &self.service);
                Ok(Answered::Result(result))
            }
            Converted::Needs(_) if self.rounds >= MAX_ROUNDS || self.slices >= MAX_SLICES => {
                let message = format!(
                    "the component still has no answer after it wanted something {} times and more time {} times",
                    self.rounds, self.slices
                );
                Err(RpcError::new(INTERNAL_ERROR, message))
            }
            Converted::Needs(pending) => Ok(Answered::Wanting(pending)),
        }
    }

    fn error(&self, error: CallError) -> RpcError {
        error::from_call(error, &self.call, self.scope.version)
    }

    fn subscribe(
        &self,
        uri: String,
        outcome: Result<Outcome, CallError>,
    ) -> Result<Value, RpcError> {
        if !self.can_subscribe(outcome)?.contains(&true) {
            let reason = "there is no such resource that could be subscribed to".to_owned();
            let unknown = ComponentError::UnknownResource(UnknownResource { uri, reason });
            return Err(self.error(CallError::Refused(unknown)));
        }
        self.service
            .subscriptions
            .subscribe(self.connection, uri, &self.outbox)?;
        Ok(json!({}))
    }

    /// Opens a stream that tells of as much of what is wanted as there is to tell.
    fn listen(&self, wants: Wants, outcome: Result<Outcome, CallError>) -> Result<(), RpcError> {
        let possible = match self.service.profile.interfaces.changes {
            true => self.can_subscribe(outcome)?,
            false => Vec::new(),
        };
        // In the order in which they were asked about.
        let resources = wants.resources.into_iter().zip(possible);
        let honoured = Wants {
            lists: wants.lists & self.service.profile.changing_lists,
            resources: resources
                .filter_map(|(uri, possible)| possible.then_some(uri))
                .collect(),
        };
        let id = self.id.clone();
        self.service
            .subscriptions
            .listen(self.connection, id, honoured, &self.outbox)?;
        // The client may have changed its mind meanwhile, when there was no stream yet.
        if self.cancel.is_cancelled() {
            self.service.subscriptions.cancel(self.connection, &self.id);
        }
        Ok(())
    }

    fn can_subscribe(&self, outcome: Result<Outcome, CallError>) -> Result<Vec<bool>, RpcError> {
        match outcome.map_err(|error| self.error(error))? {
            Outcome::CanSubscribe(possible) => Ok(possible),
            _ => Ok(Vec::new()),
        }
    }
}

/// What a component answered.
enum Answered {
    Result(Value),
    Wanting(Pending),
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        self.in_flight
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.id);
    }
}
