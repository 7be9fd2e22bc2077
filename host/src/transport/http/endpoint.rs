//! The endpoint: what becomes of a request to it. Which era it belongs to is decided for each message.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::header::ALLOW;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;

use super::answer::{self, refuse, refuse_with};
use super::body::read;
use super::connections::Peer;
use super::headers::{EVENT_STREAM, JSON, SESSION_ID, accepts, envelope, is_json};
use super::server::Server;
use super::{legacy, modern};
use crate::jsonrpc;

/// A message.
pub(super) async fn post(
    State(server): State<Arc<Server>>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    if !is_json(&headers) {
        let message = format!("the message must have the content type {JSON}");
        return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, message);
    }
    if !accepts(&headers, &[JSON, EVENT_STREAM]) {
        let message = format!("the client must accept {JSON} and {EVENT_STREAM}");
        return refuse(StatusCode::NOT_ACCEPTABLE, message);
    }
    let (limit, time) = (server.config.max_body_bytes, server.config.limits.body_time);
    let bytes = match read(&headers, body, limit, time).await {
        Ok(bytes) => bytes,
        Err(refusal) => return *refusal,
    };
    let incoming = jsonrpc::parse(&bytes);
    let envelope = envelope(&headers);
    match envelope.is_modern(&incoming) {
        Ok(true) => modern::post(&server, &peer, incoming, &envelope, bytes.len()).await,
        Ok(false) => legacy::post(&server, &headers, incoming, bytes.len()).await,
        Err(error) => refuse_with(StatusCode::BAD_REQUEST, error),
    }
}

/// A legacy client listens, or comes back to a stream.
pub(super) async fn get(State(server): State<Arc<Server>>, headers: HeaderMap) -> Response {
    match session_or_refusal(&headers) {
        Ok(()) => legacy::get(&server, &headers),
        Err(refusal) => *refusal,
    }
}

/// A legacy client ends its session.
pub(super) async fn delete(State(server): State<Arc<Server>>, headers: HeaderMap) -> Response {
    match session_or_refusal(&headers) {
        Ok(()) => legacy::delete(&server, &headers),
        Err(refusal) => *refusal,
    }
}

/// Without a body only a session's id tells the eras apart; there is nothing to `GET` or `DELETE` without one.
fn session_or_refusal(headers: &HeaderMap) -> Result<(), Box<Response>> {
    if !headers.contains_key(SESSION_ID) {
        return Err(Box::new(no_such_method()));
    }
    match envelope(headers).version() {
        Ok(_) => Ok(()),
        Err(error) => Err(Box::new(refuse_with(StatusCode::BAD_REQUEST, error))),
    }
}

/// Any other method.
pub(super) async fn other() -> Response {
    no_such_method()
}

fn no_such_method() -> Response {
    let mut response = answer::refuse(
        StatusCode::METHOD_NOT_ALLOWED,
        "messages are sent with POST; GET and DELETE are for sessions, whose id must be in a header",
    );
    let headers = response.headers_mut();
    headers.insert(ALLOW, HeaderValue::from_static("POST, GET, DELETE"));
    response
}
