//! What a component wants before it can finish a call: what the host gets by itself (time, vectors) and what only the
//! client can give. The former comes first; then the client is asked as its era has it: modern clients by a result that
//! asks and a request that answers (`input_required.rs`), legacy ones by requests of ours (`questions.rs`).

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::error;
use super::pending::{Finished, PendingCall, Resumed};
use super::questions::Inquiry;
use crate::convert;
use crate::jsonrpc::{INTERNAL_ERROR, INVALID_REQUEST, RpcError};
use crate::sandbox::bindings::personal_memory::mcp::types::{
    ClientCapabilities, InputRequest, Need, Pending, Resumption, Want,
};

/// Questions that a component may have at once: as many forms as a person fills in without losing patience.
const MAX_QUESTIONS: usize = 16;

/// Where a client declares what the protocol has no word for, and where it did before 2026-07-28.
const EXTENSIONS: &str = "extensions";
const EXPERIMENTAL: &str = "experimental";

/// Something that a client is asked.
pub(super) struct Question {
    /// The component's name for it.
    pub(super) key: String,
    pub(super) method: Cow<'static, str>,
    pub(super) params: Map<String, Value>,
}

impl PendingCall {
    /// Sets about getting what the component wants.
    pub(super) fn want(mut self: Box<Self>, pending: Pending) -> Finished {
        let (asks, rest) = apart(pending.needs);
        match self.questions(asks) {
            Ok(questions) => self.questions = questions,
            Err(error) => return self.answer(Err(error)),
        }
        let pending = Pending {
            needs: rest,
            state: pending.state,
        };
        if self.questions.is_empty() || !pending.needs.is_empty() {
            return Finished::Wanting(self, pending);
        }
        self.ask(Resumption {
            state: pending.state,
            answers: Vec::new(),
        })
    }

    /// Goes on with what the component wanted, or asks for the rest of it.
    pub fn resume(mut self: Box<Self>, resumption: Resumption) -> Resumed {
        if !self.questions.is_empty() {
            return Resumed::Finished(self.ask(resumption));
        }
        match resumption.answers.is_empty() {
            true => self.slices += 1,
            false => self.rounds += 1,
        }
        self.call.resume(resumption);
        Resumed::Again(self)
    }

    fn ask(mut self: Box<Self>, so_far: Resumption) -> Finished {
        let questions = std::mem::take(&mut self.questions);
        if self.scope.version.is_modern() {
            let result = self.input_required(questions, so_far);
            return self.answer(result);
        }
        Finished::Asking(Inquiry {
            call: self,
            questions,
            so_far,
        })
    }

    /// What is asked, as requests. Nothing is asked that the client did not declare.
    fn questions(&self, asks: Vec<(String, InputRequest)>) -> Result<Vec<Question>, RpcError> {
        if asks.len() > MAX_QUESTIONS {
            let message = format!(
                "the component asks {} questions at once, the limit is {MAX_QUESTIONS}",
                asks.len()
            );
            return Err(RpcError::new(INTERNAL_ERROR, message));
        }
        let version = self.scope.version;
        let mut required = ClientCapabilities::empty();
        let mut questions: Vec<Question> = Vec::with_capacity(asks.len());
        for (key, request) in asks {
            let params = convert::question(&request, version).map_err(error::from_unusable)?;
            required |= convert::required(&request, &params);
            if questions.iter().any(|other| other.key == key) {
                let twice = format!("it asks twice under the key `{key}`");
                return Err(error::from_unusable(convert::Unusable(twice)));
            }
            let method = self.method(request)?;
            questions.push(Question {
                key,
                method,
                params,
            });
        }
        let missing = required & !self.context.client_capabilities;
        if missing != ClientCapabilities::empty() {
            return Err(error::missing_capability(missing, version));
        }
        if !questions.is_empty() && !version.is_modern() && !self.scope.is_ready {
            return Err(RpcError::new(
                INVALID_REQUEST,
                "this needs an answer from the client, which can be asked after `notifications/initialized`",
            ));
        }
        Ok(questions)
    }

    fn method(&self, request: InputRequest) -> Result<Cow<'static, str>, RpcError> {
        let method = match request {
            InputRequest::ElicitForm(_) | InputRequest::ElicitUrl(_) => "elicitation/create",
            InputRequest::Sample(_) => "sampling/createMessage",
            InputRequest::ListRoots => "roots/list",
            InputRequest::Other(custom) => {
                // What exactly a client understands is between its extension and the component.
                let declares = |name: &str| {
                    let declared = self.scope.client.declared.get(name);
                    declared
                        .and_then(Value::as_object)
                        .is_some_and(|all| !all.is_empty())
                };
                if declares(EXTENSIONS) || declares(EXPERIMENTAL) {
                    return Ok(Cow::Owned(custom.method));
                }
                let required = json!({EXTENSIONS: {}});
                return Err(error::undeclared(required, self.scope.version));
            }
        };
        Ok(Cow::Borrowed(method))
    }
}

/// What only the client can give, and the rest.
fn apart(needs: Vec<Need>) -> (Vec<(String, InputRequest)>, Vec<Need>) {
    let (mut asks, mut rest) = (Vec::new(), Vec::new());
    for Need { key, want } in needs {
        match want {
            Want::Ask(request) => asks.push((key, request)),
            want => rest.push(Need { key, want }),
        }
    }
    (asks, rest)
}
