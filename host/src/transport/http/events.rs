//! Server-sent events: the body of a response that goes on.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Bytes;
use hyper::body::{Body, Frame};
use tokio::time::{Instant, Sleep, sleep};

use super::stream::{Event, Lost, Reader};

/// How soon a client that lost its connection should come back, in milliseconds: at once for a person, not for a machine.
const RETRY_MS: u64 = 1000;

/// What keeps proxies from closing a stream on which nothing happens. A comment: clients ignore it.
const HEARTBEAT: &[u8] = b":\n\n";

/// A body that sends each event of a stream as it comes.
pub(super) struct EventBody {
    reader: Reader,
    /// Written before anything else.
    opening: Option<Bytes>,
    /// Whether events get ids, by which a client can resume.
    has_ids: bool,
    ended: bool,
    interval: Duration,
    beat: Pin<Box<Sleep>>,
    /// Dropped when nobody reads any more.
    _held: Box<dyn Send>,
}

/// Whether and how a client can come back to a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resumable {
    /// It can't.
    No,
    /// By the id of the last event.
    ById,
    /// The same, and it is told an id before anything happens. Not for older clients: some take the empty event for a
    /// message.
    Primed,
}

impl EventBody {
    /// What `first` and then `reader` give. `held` is dropped when the client has gone or all is sent.
    pub(super) fn new(
        first: Option<(u64, Event)>,
        reader: Reader,
        resumable: Resumable,
        interval: Duration,
        held: impl Send + 'static,
    ) -> EventBody {
        let has_ids = resumable != Resumable::No;
        let mut opening = Vec::new();
        if resumable == Resumable::Primed {
            let stream = reader.stream();
            opening.extend(format!("id: {stream}-0\nretry: {RETRY_MS}\ndata:\n\n").into_bytes());
        }
        if let Some((number, event)) = first {
            opening.extend(written(number, &event, &reader, has_ids));
        }
        EventBody {
            opening: (!opening.is_empty()).then(|| opening.into()),
            reader,
            has_ids,
            ended: false,
            interval,
            beat: Box::pin(sleep(interval)),
            _held: Box::new(held),
        }
    }

    fn frame(&mut self, data: Bytes) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.beat.as_mut().reset(Instant::now() + self.interval);
        Poll::Ready(Some(Ok(Frame::data(data))))
    }
}

fn written(number: u64, event: &Event, reader: &Reader, has_ids: bool) -> Vec<u8> {
    let mut text = b"event: message\n".to_vec();
    if has_ids {
        text.extend(format!("id: {}-{number}\n", reader.stream()).into_bytes());
    }
    text.extend(b"data: ");
    text.extend(&event.data);
    text.extend(b"\n\n");
    text
}

impl Body for EventBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let this = self.get_mut();
        if let Some(opening) = this.opening.take() {
            return this.frame(opening);
        }
        if this.ended {
            return Poll::Ready(None);
        }
        match this.reader.poll_next(context) {
            Poll::Ready(Some(Ok((number, event)))) => {
                let text = written(number, &event, &this.reader, this.has_ids);
                this.frame(text.into())
            }
            Poll::Ready(Some(Err(Lost))) => {
                this.ended = true;
                Poll::Ready(Some(Err(io::ErrorKind::TimedOut.into())))
            }
            Poll::Ready(None) => {
                this.ended = true;
                Poll::Ready(None)
            }
            Poll::Pending => match this.beat.as_mut().poll(context) {
                Poll::Ready(()) => this.frame(Bytes::from_static(HEARTBEAT)),
                Poll::Pending => Poll::Pending,
            },
        }
    }
}

/// The stream and the number in an event's id.
pub(super) fn position(id: &str) -> Option<(u64, u64)> {
    let (stream, number) = id.split_once('-')?;
    Some((stream.parse().ok()?, number.parse().ok()?))
}
