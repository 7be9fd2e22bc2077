//! One connection: what it remembers, and what becomes of each message on it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::methods::{self, Action};
use super::notify::{CallNotifier, Outbox};
use super::scope::{Handshake, Scope};
use super::{error, lifecycle};
use crate::convert::{self, Converted};
use crate::jsonrpc::{
    INTERNAL_ERROR, INVALID_REQUEST, Id, Incoming, Message, Notification, Request, Response,
    RpcError,
};
use crate::sandbox::bindings::personal_memory::mcp::types::{
    CacheHint, CacheScope, RequestContext,
};
use crate::sandbox::{Call, CallError, Cancel, Notifier, Outcome, Profile};
use crate::version::Version;

/// A connection.
pub struct Session {
    profile: Arc<Profile>,
    /// Opaque; tells a component which calls belong together.
    id: String,
    /// `None` until `initialize`, or `logging/setLevel` before it.
    handshake: Option<Handshake>,
    in_flight: InFlight,
}

/// Requests that are not answered yet. Ids are unique among them, and a cancellation finds its call here.
type InFlight = Arc<Mutex<HashMap<Id, Cancel>>>;

/// What a transport has to do about a message.
#[expect(
    clippy::large_enum_variant,
    reason = "a reply lives for one message and is moved twice"
)]
pub enum Step {
    /// Nothing: it was a notification.
    Nothing,
    /// Send this.
    Reply(Response),
    /// Have this call made, in order of arrival, and send what [`PendingCall::finish`] returns.
    Call(Box<PendingCall>),
    /// Do all of these and send the responses as one array, if there are any.
    Batch(Vec<Step>),
}

/// A call that is to be made, and what is needed to answer it. Dropping it unanswered frees its id.
pub struct PendingCall {
    /// The call.
    pub call: Call,
    /// Who makes it.
    pub context: RequestContext,
    /// Stops it.
    pub cancel: Cancel,
    id: Id,
    scope: Scope,
    profile: Arc<Profile>,
    in_flight: InFlight,
}

impl Session {
    /// A connection to a component. `id` must differ from every other session's, of other processes too.
    pub fn new(profile: Arc<Profile>, id: String) -> Session {
        Session {
            profile,
            id,
            handshake: None,
            in_flight: InFlight::default(),
        }
    }

    /// Decides what becomes of what came in.
    pub fn receive(&mut self, incoming: Incoming) -> Step {
        match incoming {
            Incoming::Single(message) => self.receive_one(message),
            Incoming::Batch(messages) => {
                let negotiated = self.handshake.as_ref().map(|handshake| handshake.version);
                if negotiated.is_some_and(Version::has_batches) {
                    Step::Batch(
                        messages
                            .into_iter()
                            .map(|message| self.receive_member(message))
                            .collect(),
                    )
                } else {
                    let message = "batches exist only in protocol version 2025-03-26";
                    self.refuse(RpcError::new(INVALID_REQUEST, message))
                }
            }
        }
    }

    /// A member of a batch: anything but `initialize` (specification 2025-03-26, "Lifecycle").
    fn receive_member(&mut self, message: Message) -> Step {
        match message {
            Message::Request(request) if methods::is_handshake(&request.method) => {
                let error =
                    RpcError::new(INVALID_REQUEST, "`initialize` must not be part of a batch");
                Step::Reply(Response::new(request.id, Err(error)))
            }
            message => self.receive_one(message),
        }
    }

    /// The answer to something that was not even read.
    pub fn refuse(&self, error: RpcError) -> Step {
        let null_id = self
            .handshake
            .as_ref()
            .is_some_and(|handshake| handshake.version.has_null_ids());
        Step::Reply(Response::to_unknown(error, null_id))
    }

    fn receive_one(&mut self, message: Message) -> Step {
        match message {
            Message::Request(request) => self.request(request),
            Message::Notification(notification) => {
                self.notification(&notification);
                Step::Nothing
            }
            Message::Response => Step::Nothing,
            Message::Malformed {
                id: Some(id),
                error,
            } => Step::Reply(Response::new(id, Err(error))),
            Message::Malformed { id: None, error } => self.refuse(error),
        }
    }

    fn request(&mut self, request: Request) -> Step {
        if self.lock_in_flight().contains_key(&request.id) {
            let error = RpcError::new(
                INVALID_REQUEST,
                "a request with this id is still being worked on",
            );
            return Step::Reply(Response::new(request.id, Err(error)));
        }
        let scope = Scope::of(&request.method, &request.params, &self.known_handshake());
        match scope.and_then(|scope| self.dispatch(&request, scope)) {
            Ok(Dispatched::Answer(result)) => Step::Reply(Response::new(request.id, Ok(result))),
            Ok(Dispatched::Call(call, scope)) => {
                Step::Call(Box::new(self.pend(request.id, call, *scope)))
            }
            Err(error) => Step::Reply(Response::new(request.id, Err(error))),
        }
    }

    fn dispatch(&mut self, request: &Request, scope: Scope) -> Result<Dispatched, RpcError> {
        let Some(method) = methods::find(&request.method, scope.version, &self.profile.interfaces)
        else {
            return Err(error::method_not_found(&request.method));
        };
        match method.action {
            Action::Initialize => {
                let (handshake, result) = lifecycle::initialize(&request.params, &self.profile)?;
                self.handshake = Some(handshake);
                Ok(Dispatched::Answer(result))
            }
            Action::Discover => {
                let result = lifecycle::discover(&self.profile, &scope);
                Ok(Dispatched::Answer(decorate(
                    result,
                    None,
                    &scope,
                    &self.profile,
                )))
            }
            Action::Ping => Ok(Dispatched::Answer(json!({}))),
            Action::SetLogLevel => {
                let level = request.params.get("level").unwrap_or(&Value::Null);
                let level = convert::log_level(level)?;
                self.handshake.get_or_insert_default().log_level = Some(level);
                Ok(Dispatched::Answer(json!({})))
            }
            Action::Call(prepare) => {
                Ok(Dispatched::Call(prepare(&request.params)?, Box::new(scope)))
            }
        }
    }

    fn pend(&self, id: Id, call: Call, scope: Scope) -> PendingCall {
        let cancel = Cancel::default();
        self.lock_in_flight().insert(id.clone(), cancel.clone());
        let context = scope.context(&self.id);
        let (profile, in_flight) = (Arc::clone(&self.profile), Arc::clone(&self.in_flight));
        PendingCall {
            call,
            context,
            cancel,
            id,
            scope,
            profile,
            in_flight,
        }
    }

    /// Notifications are never answered; those that mean nothing here are ignored, and so are malformed ones.
    fn notification(&self, notification: &Notification) {
        if notification.method == "notifications/cancelled" {
            let id = notification.id_at("requestId");
            if let Some(cancel) = id.and_then(|id| self.lock_in_flight().get(&id).cloned()) {
                cancel.cancel();
            }
        }
    }

    fn known_handshake(&self) -> Handshake {
        self.handshake.clone().unwrap_or_default()
    }

    fn lock_in_flight(&self) -> std::sync::MutexGuard<'_, HashMap<Id, Cancel>> {
        self.in_flight
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a request leads to.
enum Dispatched {
    Answer(Value),
    Call(Call, Box<Scope>),
}

impl PendingCall {
    /// Where the call's progress and log messages go; `None` when the client wants neither.
    pub fn notifier(&self, outbox: Arc<dyn Outbox>) -> Option<Arc<dyn Notifier>> {
        let wanted = self.scope.progress_token.is_some() || self.scope.log_level.is_some();
        wanted.then(|| {
            Arc::new(CallNotifier::new(
                outbox,
                self.scope.clone(),
                self.cancel.clone(),
            )) as Arc<dyn Notifier>
        })
    }

    /// The response to the call. The id is free again when this returns. A cancelled call has none.
    pub fn finish(self, outcome: Result<Outcome, CallError>) -> Option<Response> {
        if self.cancel.is_cancelled() {
            return None;
        }
        Some(Response::new(self.id.clone(), self.result(outcome)))
    }

    /// The response to a call that can't be made.
    pub fn refuse(self, message: &str) -> Response {
        Response::new(self.id.clone(), Err(RpcError::new(INTERNAL_ERROR, message)))
    }

    fn result(&self, outcome: Result<Outcome, CallError>) -> Result<Value, RpcError> {
        let version = self.scope.version;
        let outcome = outcome.map_err(|error| error::from_call(error, &self.call, version))?;
        match convert::outcome(outcome, version).map_err(error::from_unusable)? {
            Converted::Complete { result, cache } => Ok(decorate(
                Value::Object(result),
                cache,
                &self.scope,
                &self.profile,
            )),
            Converted::Needs(_) => {
                let message =
                    "the component wants to ask the client something, which is not supported yet";
                Err(RpcError::new(INTERNAL_ERROR, message))
            }
        }
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        self.in_flight
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.id);
    }
}

/// Adds what a modern result says about itself: its type, who made it, how long it may be cached. Legacy results stay
/// as they are; a client is known that chokes on the additions.
fn decorate(
    mut result: Value,
    cache: Option<CacheHint>,
    scope: &Scope,
    profile: &Profile,
) -> Value {
    if !scope.version.is_modern() {
        return result;
    }
    result["resultType"] = "complete".into();
    if let Some(cache) = cache {
        result["ttlMs"] = cache.ttl_ms.into();
        result["cacheScope"] = match cache.scope {
            CacheScope::Public => "public",
            CacheScope::Private => "private",
        }
        .into();
    }
    let server = convert::implementation(&profile.description, scope.version);
    result["_meta"]["io.modelcontextprotocol/serverInfo"] = server;
    result
}
