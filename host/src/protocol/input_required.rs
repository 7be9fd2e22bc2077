//! Asking a modern client: the call ends with a result that asks, and the client makes the request again with answers
//! (specification 2026-07-28, "Multi Round-Trip Requests"). Nothing is remembered here in between: what must not get lost
//! travels through the client, sealed.

use serde_json::{Map, Value};

use super::asking::Question;
use super::pending::PendingCall;
use super::seal;
use super::service::Service;
use super::session::decorate;
use crate::convert::{Kept, Params};
use crate::jsonrpc::{INTERNAL_ERROR, RpcError, shorten};
use crate::sandbox::Call;
use crate::sandbox::bindings::personal_memory::mcp::types::{Answer, Given, Resumption};

/// The type of a result that asks.
const INPUT_REQUIRED: &str = "input_required";

/// Members of a request that answers.
const INPUT_RESPONSES: &str = "inputResponses";
const REQUEST_STATE: &str = "requestState";

/// Answers that are read. A client may send more than it was asked, but not without end.
const MAX_RESPONSES: usize = 64;

impl PendingCall {
    /// The result that asks.
    pub(super) fn input_required(
        &self,
        questions: Vec<Question>,
        so_far: Resumption,
    ) -> Result<Value, RpcError> {
        let asked = questions.iter().map(|question| question.key.clone());
        let kept = Kept {
            so_far,
            asked: asked.collect(),
        };
        let requests: Map<String, Value> = questions
            .into_iter()
            .map(|question| {
                let mut request = Map::new();
                request.insert("method".to_owned(), question.method.into());
                request.insert("params".to_owned(), question.params.into());
                (question.key, request.into())
            })
            .collect();
        let mut result = Map::new();
        result.insert("inputRequests".to_owned(), requests.into());
        if kept.is_worth_it() {
            let content = kept.to_bytes().map_err(|error| {
                RpcError::new(INTERNAL_ERROR, format!("the state can't be kept: {error}"))
            })?;
            let about = seal::digest(&self.call, self.service.server());
            let state = self.service.seal.seal(&content, &about)?;
            result.insert(REQUEST_STATE.to_owned(), state.into());
        }
        let result = Value::Object(result);
        let result = decorate(result, INPUT_REQUIRED, None, &self.scope, &self.service);
        Ok(result)
    }
}

/// What a request brings along of an earlier one that asked, if anything.
///
/// Answers without a state are taken as they are: a component without a state has none to send. With a state only those
/// count that were asked for.
pub(super) fn resumption(
    params: &Params,
    call: &Call,
    service: &Service,
) -> Result<Option<Resumption>, RpcError> {
    let answers = params
        .get(INPUT_RESPONSES)
        .map(read_responses)
        .transpose()?;
    let state = match params.get(REQUEST_STATE) {
        Some(Value::String(state)) => state,
        Some(other) => {
            let got = shorten(&other.to_string());
            let message = format!("`{REQUEST_STATE}` must be a string, not {got}");
            return Err(RpcError::invalid_params(message));
        }
        None => {
            let state = None;
            return Ok(answers.map(|answers| Resumption { state, answers }));
        }
    };
    let Kept { mut so_far, asked } = open(state, call, service)?;
    let answers = answers.unwrap_or_default().into_iter();
    so_far
        .answers
        .extend(answers.filter(|answer| asked.contains(&answer.key)));
    Ok(Some(so_far))
}

fn open(state: &str, call: &Call, service: &Service) -> Result<Kept, RpcError> {
    let about = seal::digest(call, service.server());
    let content = service.seal.open(state, &about)?;
    // It was sealed here, so it is readable.
    Kept::from_bytes(&content)
        .ok_or_else(|| RpcError::new(INTERNAL_ERROR, format!("`{REQUEST_STATE}` can't be read")))
}

fn read_responses(responses: &Value) -> Result<Vec<Answer>, RpcError> {
    let Value::Object(responses) = responses else {
        let got = shorten(&responses.to_string());
        let message = format!("`{INPUT_RESPONSES}` must be an object, not {got}");
        return Err(RpcError::invalid_params(message));
    };
    if responses.len() > MAX_RESPONSES {
        let message = format!(
            "`{INPUT_RESPONSES}` has {} members, the limit is {MAX_RESPONSES}",
            responses.len()
        );
        return Err(RpcError::invalid_params(message));
    }
    let answer = |(key, response): (&String, &Value)| match response {
        Value::Object(_) => Ok(Answer {
            key: key.clone(),
            given: Given::Input(response.to_string()),
        }),
        other => {
            let (key, got) = (shorten(key), shorten(&other.to_string()));
            let message = format!("`{INPUT_RESPONSES}.{key}` must be an object, not {got}");
            Err(RpcError::invalid_params(message))
        }
    };
    responses.iter().map(answer).collect()
}
