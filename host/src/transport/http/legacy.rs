//! The legacy era: sessions, which a handshake opens, and streams to which a client can come back. Closing a connection
//! cancels nothing.

use std::sync::Arc;
use std::time::Instant;

use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use tokio::time::sleep;

use super::answer::{self, Era, refuse};
use super::events::{Resumable, position};
use super::headers::{EVENT_STREAM, LAST_EVENT_ID, SESSION_ID, accepts, only};
use super::server::Server;
use super::sessions::{Full, Sessions, Use, lock};
use super::stream::RequestOutbox;
use crate::jsonrpc::{Incoming, Message};
use crate::protocol::{Field, Outbox, Step, is_handshake};
use crate::transport::ids;
use crate::version::Version;

/// Seconds after which it may be worth trying again to open a session.
const RETRY_SECONDS: &str = "60";

/// Takes a message.
pub(super) async fn post(
    server: &Arc<Server>,
    headers: &HeaderMap,
    incoming: Incoming,
    bytes: usize,
) -> Response {
    if headers.contains_key(SESSION_ID) {
        return match session(server, headers) {
            Ok((_, session)) => exchange(server, session, incoming, bytes).await,
            Err(refusal) => *refusal,
        };
    }
    match &incoming {
        Incoming::Single(Message::Request(request)) if is_handshake(&request.method) => {
            open(server, incoming)
        }
        // What is no message belongs to nobody.
        Incoming::Single(Message::Malformed { .. }) => unread(server, incoming),
        _ => refuse(
            StatusCode::BAD_REQUEST,
            "the message belongs to no session: begin with `initialize`, and send the `Mcp-Session-Id` that comes back",
        ),
    }
}

/// Answers a handshake, and opens a session if it succeeds.
fn open(server: &Arc<Server>, incoming: Incoming) -> Response {
    let Ok(id) = ids::connection() else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let mut session = server.session(id);
    let Step::Reply(response) = session.receive(incoming, &nowhere()) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let mut answer = answer::at_once(&response, Era::Legacy);
    if response.error_code().is_some() {
        return answer;
    }
    match server.sessions.open(session, Instant::now()) {
        Ok(Ok((id, _))) => {
            if let Ok(value) = HeaderValue::from_str(&id) {
                answer.headers_mut().insert(SESSION_ID, value);
            }
            tokio::spawn(expire(Arc::clone(&server.sessions), id));
            answer
        }
        Ok(Err(Full(limit))) => {
            let message = format!("{limit} sessions are open, which is the limit; try again later");
            let mut refusal = refuse(StatusCode::SERVICE_UNAVAILABLE, message);
            let later = HeaderValue::from_static(RETRY_SECONDS);
            refusal.headers_mut().insert(RETRY_AFTER, later);
            refusal
        }
        Err(error) => refuse(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

/// Ends a session when it has not been used for long enough.
async fn expire(sessions: Arc<Sessions>, id: String) {
    while let Some(left) = sessions.time_left(&id, Instant::now()) {
        sleep(left).await;
    }
}

/// Says what is wrong with something that is no message.
fn unread(server: &Arc<Server>, incoming: Incoming) -> Response {
    match server.session(String::new()).receive(incoming, &nowhere()) {
        Step::Reply(response) => answer::at_once(&response, Era::Legacy),
        _ => answer::accepted(),
    }
}

/// For what is answered at once.
fn nowhere() -> Arc<dyn Outbox> {
    use super::stream::{Purpose, Stream};

    Arc::new(RequestOutbox {
        stream: Stream::new(0, Purpose::Request),
        unsolicited: None,
    })
}

/// Gives a message to its session and answers with what that leads to.
async fn exchange(
    server: &Arc<Server>,
    session: Use,
    incoming: Incoming,
    bytes: usize,
) -> Response {
    let stream = session.stream();
    let reader = stream.read(None);
    let outbox: Arc<dyn Outbox> = Arc::new(RequestOutbox {
        stream: Arc::clone(&stream),
        unsolicited: Some(Arc::clone(&session.unsolicited)),
    });
    let step = lock(&session.session).receive(incoming, &outbox);
    match step {
        Step::Nothing => return answer::accepted(),
        Step::Reply(response) => return answer::at_once(&response, Era::Legacy),
        Step::Batch(steps) if steps.iter().all(|step| matches!(step, Step::Nothing)) => {
            return answer::accepted();
        }
        step => server.worker.enqueue(step, bytes, &outbox),
    }
    // From now on the stream ends when nobody else can send on it.
    drop(outbox);
    let limits = &server.config.limits;
    session.keep(stream, limits);
    let resumable = resumable(&session);
    answer::when_there(reader, Era::Legacy, resumable, limits.heartbeat, session).await
}

fn resumable(session: &Use) -> Resumable {
    let negotiated = lock(&session.session).negotiated();
    if negotiated.is_some_and(Version::has_primed_streams) {
        Resumable::Primed
    } else {
        Resumable::ById
    }
}

/// Sends what no request asked for, or the rest of a stream whose connection was lost.
pub(super) fn get(server: &Arc<Server>, headers: &HeaderMap) -> Response {
    if !accepts(headers, &[EVENT_STREAM]) {
        let message = format!("the client must accept {EVENT_STREAM}");
        return refuse(StatusCode::NOT_ACCEPTABLE, message);
    }
    let session = match session(server, headers) {
        Ok((_, session)) => session,
        Err(refusal) => return *refusal,
    };
    let reader = match only(headers, &LAST_EVENT_ID) {
        Field::Absent => session.unsolicited.read(None),
        Field::Text(id) => {
            let at = position(&id);
            let stream = at.and_then(|(stream, number)| Some((session.kept(stream)?, number)));
            let Some((stream, number)) = stream else {
                let message = "nothing is kept any more of the stream with this `Last-Event-ID`";
                return refuse(StatusCode::BAD_REQUEST, message);
            };
            stream.read(Some(number))
        }
        Field::Malformed(why) => {
            let message = format!("`Last-Event-ID` can't be used: {why}");
            return refuse(StatusCode::BAD_REQUEST, message);
        }
    };
    let resumable = resumable(&session);
    answer::events(
        None,
        reader,
        resumable,
        server.config.limits.heartbeat,
        session,
    )
}

/// Ends a session.
pub(super) fn delete(server: &Arc<Server>, headers: &HeaderMap) -> Response {
    match session(server, headers) {
        Ok((id, _)) => {
            server.sessions.close(&id);
            StatusCode::NO_CONTENT.into_response()
        }
        Err(refusal) => *refusal,
    }
}

/// The session that the headers name.
fn session(server: &Server, headers: &HeaderMap) -> Result<(String, Use), Box<Response>> {
    let found = match only(headers, &SESSION_ID) {
        Field::Text(id) => server.sessions.find(&id).map(|session| (id, session)),
        Field::Absent | Field::Malformed(_) => None,
    };
    found.ok_or_else(|| {
        let message = "there is no such session, or not any more: begin anew with `initialize`";
        Box::new(refuse(StatusCode::NOT_FOUND, message))
    })
}
