//! Reading a message, of which only so much is taken, and only for so long.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use hyper::body::{Body as _, Frame};
use tokio::time::timeout;

use super::answer::refuse;

/// How long the rest of a message that is refused is still taken, and thrown away. Most clients read no answer before they
/// have sent everything, and would only see the connection break.
const LINGER: Duration = Duration::from_secs(5);

/// Reads a message. The limit holds while it is read: what a client says of the length need not be so.
pub(super) async fn read(
    headers: &HeaderMap,
    body: Body,
    limit: usize,
    time: Duration,
) -> Result<Bytes, Box<Response>> {
    let too_long = || {
        let message = format!("the message is longer than the limit of {limit} bytes");
        Box::new(refuse(StatusCode::PAYLOAD_TOO_LARGE, message))
    };
    let announced = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: u64| length > limit as u64) {
        throw_away(body);
        return Err(too_long());
    }
    let mut body = body;
    match timeout(time, collect(&mut body, limit)).await {
        Ok(Some(Ok(bytes))) => Ok(bytes),
        Ok(Some(Err(error))) => {
            let message = format!("the message can't be read: {error}");
            Err(Box::new(refuse(StatusCode::BAD_REQUEST, message)))
        }
        Ok(None) => {
            throw_away(body);
            Err(too_long())
        }
        Err(_) => {
            let message = format!("the message did not come within {time:?}");
            Err(Box::new(refuse(StatusCode::REQUEST_TIMEOUT, message)))
        }
    }
}

/// Takes the rest of a body while the answer is on its way.
fn throw_away(mut body: Body) {
    tokio::spawn(timeout(LINGER, async move {
        while let Some(Ok(_)) = next(&mut body).await {}
    }));
}

async fn next(body: &mut Body) -> Option<Result<Frame<Bytes>, axum::Error>> {
    poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await
}

/// All of a body; `None` if it is longer than `limit`.
async fn collect(body: &mut Body, limit: usize) -> Option<Result<Bytes, axum::Error>> {
    let mut all = Vec::new();
    loop {
        match next(body).await {
            None => return Some(Ok(all.into())),
            Some(Err(error)) => return Some(Err(error)),
            Some(Ok(frame)) => {
                let data = frame.data_ref().map_or(&[][..], |data| data);
                if all.len() + data.len() > limit {
                    return None;
                }
                all.extend_from_slice(data);
            }
        }
    }
}
