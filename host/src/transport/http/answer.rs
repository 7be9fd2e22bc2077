//! What is answered, and with which status.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use super::events::{EventBody, Resumable};
use super::headers::{EVENT_STREAM, JSON};
use super::stream::{Answer, Event, Reader, written};
use crate::jsonrpc::{
    self, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, RpcError,
};
use crate::protocol::{HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_VERSION};

/// Tells proxies to pass each event on as it comes.
const NO_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The era of an exchange, as far as statuses depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// Errors are in the body; only what is no message at all has a status of its own.
    Legacy,
    /// The status repeats what the error says, for those who don't read bodies.
    Modern,
}

/// The status for an error with this code (specification 2026-07-28, "Streamable HTTP").
fn status(code: Option<i64>, era: Era) -> StatusCode {
    match (code, era) {
        (Some(PARSE_ERROR | INVALID_REQUEST), _) => StatusCode::BAD_REQUEST,
        (
            Some(
                INVALID_PARAMS | HEADER_MISMATCH | MISSING_CLIENT_CAPABILITY | UNSUPPORTED_VERSION,
            ),
            Era::Modern,
        ) => StatusCode::BAD_REQUEST,
        (Some(METHOD_NOT_FOUND), Era::Modern) => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    }
}

/// A notification or a response was taken; there is nothing to say.
pub(super) fn accepted() -> Response {
    StatusCode::ACCEPTED.into_response()
}

/// The answer to a request that needed no call.
pub(super) fn at_once(response: &jsonrpc::Response, era: Era) -> Response {
    match written(response) {
        Some(data) => json(status(response.error_code(), era), data),
        None => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// A refusal of what came, before it came to any session.
pub(super) fn refuse(status: StatusCode, message: impl Into<String>) -> Response {
    refuse_with(status, RpcError::new(INVALID_REQUEST, message))
}

/// The same with an error of its own.
pub(super) fn refuse_with(status: StatusCode, error: RpcError) -> Response {
    match written(&jsonrpc::Response::to_unknown(error, false)) {
        Some(data) => json(status, data),
        None => status.into_response(),
    }
}

/// Waits for what is said first on a request's stream. If that is the answer it goes out as it is; if not, events follow
/// each other up to it. `held` is dropped when the client has gone, or has its answer.
pub(super) async fn when_there(
    mut reader: Reader,
    era: Era,
    resumable: Resumable,
    heartbeat: Duration,
    held: impl Send + 'static,
) -> Response {
    let first = match reader.next().await {
        Some(Ok((
            _,
            Event {
                data,
                answer: Some(Answer { code }),
            },
        ))) => return json(status(code, era), data),
        Some(Ok(first)) => Some(first),
        // It was cancelled: there will be no answer.
        Some(Err(_)) | None => None,
    };
    events(first, reader, resumable, heartbeat, held)
}

/// A stream of events.
pub(super) fn events(
    first: Option<(u64, Event)>,
    reader: Reader,
    resumable: Resumable,
    heartbeat: Duration,
    held: impl Send + 'static,
) -> Response {
    let body = EventBody::new(first, reader, resumable, heartbeat, held);
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM)),
        (
            CACHE_CONTROL,
            HeaderValue::from_static("no-cache, no-transform"),
        ),
        (NO_BUFFERING, HeaderValue::from_static("no")),
    ];
    (headers, Body::new(body)).into_response()
}

fn json(status: StatusCode, data: Bytes) -> Response {
    let headers = [(CONTENT_TYPE, HeaderValue::from_static(JSON))];
    (status, headers, data).into_response()
}
