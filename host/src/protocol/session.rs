//! One connection: what it remembers, and what becomes of each message on it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::methods::{self, Action};
use super::outbox::Outbox;
use super::parameters::Parameters;
use super::pending::{PendingCall, Purpose};
use super::scope::{Handshake, Scope};
use super::service::Service;
use super::subscriptions::Connection;
use super::wants::Wants;
use super::{error, input_required, lifecycle};
use crate::convert;
use crate::jsonrpc::{
    INVALID_REQUEST, Id, Incoming, Message, Notification, Request, Response, RpcError,
};
use crate::sandbox::bindings::personal_memory::mcp::types::{CacheHint, CacheScope};
use crate::sandbox::{Call, Cancel};
use crate::version::Version;

/// A connection.
pub struct Session {
    service: Arc<Service>,
    /// This one among all of the service.
    connection: Connection,
    /// Opaque; tells a component which calls belong together.
    id: String,
    /// `None` until `initialize`, or `logging/setLevel` before it.
    handshake: Option<Handshake>,
    in_flight: InFlight,
    /// Learns from the lists of tools that are sent, where envelopes are checked.
    parameters: Option<Arc<Parameters>>,
}

/// Requests that are not answered yet. Ids are unique among them, and a cancellation finds its call here.
pub(super) type InFlight = Arc<Mutex<HashMap<Id, Cancel>>>;

/// What a transport has to do about a message.
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

impl Step {
    /// How many calls of the component it takes.
    pub fn calls(&self) -> usize {
        match self {
            Step::Nothing | Step::Reply(_) => 0,
            Step::Call(_) => 1,
            Step::Batch(steps) => steps.iter().map(Step::calls).sum(),
        }
    }
}

impl Session {
    /// A connection to a component. `id` must differ from every other session's, of other processes too.
    pub fn new(service: Arc<Service>, id: String) -> Session {
        Session {
            connection: service.subscriptions.connect(),
            service,
            id,
            handshake: None,
            in_flight: InFlight::default(),
            parameters: None,
        }
    }

    /// The same, on a transport whose envelopes are checked against the tools' schemas.
    pub fn with_parameters(self, parameters: Arc<Parameters>) -> Session {
        Session {
            parameters: Some(parameters),
            ..self
        }
    }

    /// Decides what becomes of what came in. What is said on account of it goes to `outbox`.
    pub fn receive(&mut self, incoming: Incoming, outbox: &Arc<dyn Outbox>) -> Step {
        match incoming {
            Incoming::Single(message) => self.receive_one(message, outbox),
            Incoming::Batch(messages) => {
                let negotiated = self.handshake.as_ref().map(|handshake| handshake.version);
                if negotiated.is_some_and(Version::has_batches) {
                    Step::Batch(
                        messages
                            .into_iter()
                            .map(|message| self.receive_member(message, outbox))
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
    fn receive_member(&mut self, message: Message, outbox: &Arc<dyn Outbox>) -> Step {
        match message {
            Message::Request(request) if methods::is_handshake(&request.method) => {
                let error =
                    RpcError::new(INVALID_REQUEST, "`initialize` must not be part of a batch");
                Step::Reply(Response::new(request.id, Err::<Value, _>(error)))
            }
            message => self.receive_one(message, outbox),
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

    fn receive_one(&mut self, message: Message, outbox: &Arc<dyn Outbox>) -> Step {
        match message {
            Message::Request(request) => self.request(request, outbox),
            Message::Notification(notification) => {
                self.notification(&notification, outbox);
                Step::Nothing
            }
            Message::Response(reply) => {
                self.service.questions.answer(self.connection, reply);
                Step::Nothing
            }
            Message::Malformed {
                id: Some(id),
                error,
            } => Step::Reply(Response::new(id, Err::<Value, _>(error))),
            Message::Malformed { id: None, error } => self.refuse(error),
        }
    }

    fn request(&mut self, request: Request, outbox: &Arc<dyn Outbox>) -> Step {
        if self.is_in_flight(&request.id) {
            let error = RpcError::new(
                INVALID_REQUEST,
                "a request with this id is still being worked on",
            );
            return Step::Reply(Response::new(request.id, Err::<Value, _>(error)));
        }
        let scope = Scope::of(&request.method, &request.params, &self.known_handshake());
        match scope.and_then(|scope| self.dispatch(&request, scope)) {
            Ok(Dispatched::Answer(result)) => Step::Reply(Response::new(request.id, Ok(result))),
            Ok(Dispatched::Call(call, purpose, scope)) => Step::Call(Box::new(
                self.pend(request.id, call, purpose, *scope, outbox),
            )),
            Err(error) => Step::Reply(Response::new(request.id, Err::<Value, _>(error))),
        }
    }

    fn dispatch(&mut self, request: &Request, scope: Scope) -> Result<Dispatched, RpcError> {
        let Some(method) = methods::find(
            &request.method,
            scope.version,
            &self.service.profile.interfaces,
        ) else {
            return Err(error::method_not_found(&request.method));
        };
        let params = &request.params;
        let (call, purpose) = match method.action {
            Action::Initialize => {
                let (handshake, result) = lifecycle::initialize(params, &self.service.profile)?;
                self.handshake = Some(handshake);
                return Ok(Dispatched::Answer(result));
            }
            Action::Discover => {
                let result = lifecycle::discover(&self.service.profile, &scope);
                let result = decorate(result, COMPLETE, None, &scope, &self.service);
                return Ok(Dispatched::Answer(result));
            }
            Action::Ping => return Ok(Dispatched::Answer(json!({}))),
            Action::SetLogLevel => {
                let level = convert::log_level(params.get("level").unwrap_or(&Value::Null))?;
                self.handshake.get_or_insert_default().log_level = Some(level);
                return Ok(Dispatched::Answer(json!({})));
            }
            Action::Unsubscribe => {
                self.service
                    .subscriptions
                    .unsubscribe(self.connection, &convert::uri(params)?);
                return Ok(Dispatched::Answer(json!({})));
            }
            Action::Subscribe => {
                let uri = convert::uri(params)?;
                let uris = vec![uri.clone()];
                (Call::CanSubscribe { uris }, Purpose::Subscribe(uri))
            }
            Action::Listen => {
                let wants = Wants::from_json(params.get("notifications"))?;
                let uris = wants.resources.iter().cloned().collect();
                (Call::CanSubscribe { uris }, Purpose::Listen(wants))
            }
            Action::Call(prepare) => {
                let mut call = prepare(params)?;
                // Legacy requests know no such members, so these mean nothing there.
                if scope.version.is_modern() && call.can_ask() {
                    let resumption = input_required::resumption(params, &call, &self.service)?;
                    resumption
                        .into_iter()
                        .for_each(|resumption| call.resume(resumption));
                }
                (call, Purpose::Answer)
            }
        };
        Ok(Dispatched::Call(call, purpose, Box::new(scope)))
    }

    fn pend(
        &self,
        id: Id,
        call: Call,
        purpose: Purpose,
        scope: Scope,
        outbox: &Arc<dyn Outbox>,
    ) -> PendingCall {
        let cancel = Cancel::default();
        self.lock_in_flight().insert(id.clone(), cancel.clone());
        PendingCall {
            call,
            context: scope.context(&self.id),
            cancel,
            outbox: Arc::clone(outbox),
            purpose,
            id,
            scope,
            service: Arc::clone(&self.service),
            connection: self.connection,
            in_flight: Arc::clone(&self.in_flight),
            parameters: self.parameters.clone(),
            questions: Vec::new(),
            rounds: 0,
            slices: 0,
        }
    }

    /// Notifications are never answered; those that mean nothing here are ignored, and so are malformed ones.
    fn notification(&mut self, notification: &Notification, outbox: &Arc<dyn Outbox>) {
        match notification.method.as_str() {
            "notifications/cancelled" => {
                if let Some(id) = notification.id_at("requestId") {
                    if let Some(cancel) = self.lock_in_flight().get(&id) {
                        cancel.cancel();
                    }
                    self.service.questions.withdraw(self.connection, &id);
                    self.service.subscriptions.cancel(self.connection, &id);
                }
            }
            "notifications/initialized" => {
                let Some(handshake) = &mut self.handshake else {
                    return;
                };
                handshake.is_ready = true;
                let profile = &self.service.profile;
                if profile.interfaces.changes {
                    let lists = profile.changing_lists;
                    self.service
                        .subscriptions
                        .attend(self.connection, lists, outbox);
                }
            }
            _ => {}
        }
    }

    /// Ends the connection in good order, as far as it is not the client that ends it.
    pub fn end(&self) {
        let us = convert::implementation(&self.service.profile.description, Version::MODERN[0]);
        self.service.questions.end(self.connection);
        self.service.subscriptions.end(self.connection, &us);
    }

    /// The client is gone: what it waits for is cancelled, and it is told nothing more.
    pub fn abandon(&self) {
        for cancel in self.lock_in_flight().values() {
            cancel.cancel();
        }
        self.service.questions.forget(self.connection);
        self.service.subscriptions.forget(self.connection);
    }

    /// The revision that was agreed upon with a legacy client, if there was a handshake.
    pub fn negotiated(&self) -> Option<Version> {
        self.handshake.as_ref().map(|handshake| handshake.version)
    }

    fn is_in_flight(&self, id: &Id) -> bool {
        self.lock_in_flight().contains_key(id)
            || self.service.subscriptions.is_open(self.connection, id)
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
    Call(Call, Purpose, Box<Scope>),
}

/// The type of a result that is all that there is to say.
pub(super) const COMPLETE: &str = "complete";

/// Adds what a modern result says about itself: its type, who made it, how long it may be cached. Legacy results stay
/// as they are; a client is known that chokes on the additions.
pub(super) fn decorate(
    mut result: Value,
    result_type: &str,
    cache: Option<CacheHint>,
    scope: &Scope,
    service: &Service,
) -> Value {
    if !scope.version.is_modern() {
        return result;
    }
    result["resultType"] = result_type.into();
    if let Some(cache) = cache {
        result["ttlMs"] = cache.ttl_ms.into();
        result["cacheScope"] = match cache.scope {
            CacheScope::Public => "public",
            CacheScope::Private => "private",
        }
        .into();
    }
    let server = convert::implementation(&service.profile.description, scope.version);
    result["_meta"]["io.modelcontextprotocol/serverInfo"] = server;
    result
}
