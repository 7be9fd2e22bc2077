use std::task::Waker;

use super::*;
use crate::jsonrpc::Response;
use serde_json::json;

/// What can be read at once: events as text with their numbers, and how it goes on.
#[derive(Debug, PartialEq, Eq)]
enum Then {
    More,
    End,
    Lost,
}

fn read(reader: &mut Reader) -> (Vec<(u64, String)>, Then) {
    let context = Context::from_waker(Waker::noop());
    let mut events = Vec::new();
    loop {
        match reader.poll_next(&context) {
            Poll::Pending => return (events, Then::More),
            Poll::Ready(None) => return (events, Then::End),
            Poll::Ready(Some(Err(Lost))) => return (events, Then::Lost),
            Poll::Ready(Some(Ok((number, event)))) => {
                let value: serde_json::Value = serde_json::from_slice(&event.data).unwrap();
                let text = value["params"].as_str().unwrap_or("answer");
                events.push((number, text.chars().take(8).collect()));
            }
        }
    }
}

fn say(stream: &Arc<Stream>, text: &str) {
    let message = OutgoingNotification::new("m", text).unwrap();
    send(stream, &Outgoing::Notification(message));
}

fn answer(stream: &Arc<Stream>) {
    let error = crate::jsonrpc::RpcError::invalid_params("no");
    let response = Response::to_unknown(error, true);
    send(stream, &Outgoing::Response(response));
}

fn numbered(texts: &[(u64, &str)]) -> Vec<(u64, String)> {
    texts
        .iter()
        .map(|(number, text)| (*number, (*text).to_owned()))
        .collect()
}

fn long() -> String {
    "l".repeat(MAX_WAITING_BYTES)
}

#[test]
fn the_answer_is_the_last_message_on_a_request_s_stream() {
    let stream = Stream::new(7, Purpose::Request);
    let mut reader = stream.read(None);
    assert_eq!(read(&mut reader), (Vec::new(), Then::More));
    say(&stream, "a");
    answer(&stream);
    say(&stream, "late");
    assert_eq!(
        read(&mut reader),
        (numbered(&[(1, "a"), (2, "answer")]), Then::End)
    );
}

#[test]
fn a_stream_ends_when_nobody_can_send_on_it() {
    let stream = Stream::new(1, Purpose::Request);
    let mut reader = stream.read(None);
    let outbox: Arc<dyn Outbox> = Arc::new(RequestOutbox {
        stream,
        unsolicited: None,
    });
    let other = Arc::clone(&outbox);
    drop(outbox);
    assert_eq!(read(&mut reader).1, Then::More);
    drop(other);
    assert_eq!(read(&mut reader).1, Then::End);
}

#[test]
fn a_reader_that_lost_its_connection_gets_the_rest_and_the_old_one_nothing() {
    let stream = Stream::new(1, Purpose::LegacyRequest);
    let mut first = stream.read(None);
    for text in ["a", "b", "c"] {
        say(&stream, text);
    }
    assert_eq!(read(&mut first).0.len(), 3);
    let mut second = stream.read(Some(1));
    say(&stream, "d");
    assert_eq!(read(&mut first), (Vec::new(), Then::End));
    assert_eq!(
        read(&mut second),
        (numbered(&[(2, "b"), (3, "c"), (4, "d")]), Then::More)
    );
    // From the beginning, which is event 0, and from where there is nothing yet.
    assert_eq!(read(&mut stream.read(Some(0))).0.len(), 4);
    assert_eq!(read(&mut stream.read(Some(99))), (Vec::new(), Then::More));
    answer(&stream);
    assert_eq!(
        read(&mut stream.read(Some(3))),
        (numbered(&[(4, "d"), (5, "answer")]), Then::End)
    );
}

#[test]
fn what_was_read_is_kept_up_to_a_limit_and_not_at_all_in_the_modern_era() {
    let text = "t".repeat(MAX_REPLAY_BYTES / 4);
    for (purpose, kept) in [(Purpose::LegacyRequest, 3), (Purpose::Request, 0)] {
        let stream = Stream::new(1, purpose);
        let mut reader = stream.read(None);
        for _ in 0..10 {
            say(&stream, &text);
            read(&mut reader);
        }
        assert!(stream.bytes() <= MAX_REPLAY_BYTES);
        assert_eq!(read(&mut stream.read(Some(0))).0.len(), kept, "{purpose:?}");
    }
}

#[test]
fn while_nobody_reads_the_oldest_unsolicited_messages_give_way() {
    let stream = Stream::new(0, Purpose::Unsolicited);
    let text = "t".repeat(MAX_WAITING_BYTES / 4);
    for _ in 0..10 {
        say(&stream, &text);
    }
    assert!(stream.bytes() <= MAX_WAITING_BYTES);
    say(&stream, "last");
    let (events, then) = read(&mut stream.read(None));
    assert_eq!(events.last(), Some(&(11, "last".to_owned())));
    assert_eq!(events.len(), 4);
    assert_eq!(then, Then::More);
}

#[test]
fn a_client_that_does_not_keep_up_loses_its_subscription_and_not_its_answer() {
    let stream = Stream::new(1, Purpose::Request);
    let mut reader = stream.read(None);
    say(&stream, "first");
    say(&stream, &long());
    say(&stream, "late");
    assert_eq!(read(&mut reader), (Vec::new(), Then::Lost));
    assert_eq!(stream.bytes(), 0);

    let stream = Stream::new(1, Purpose::Request);
    let mut reader = stream.read(None);
    say(&stream, &long());
    answer(&stream);
    let (events, then) = read(&mut reader);
    assert_eq!(events.last(), Some(&(2, "answer".to_owned())));
    assert_eq!(then, Then::End);
}

#[test]
fn what_nothing_depends_on_is_dropped_first() {
    let stream = Stream::new(1, Purpose::Request);
    let mut reader = stream.read(None);
    say(&stream, &long());
    let message = OutgoingNotification::new("m", json!("progress")).unwrap();
    offer(&stream, &message);
    answer(&stream);
    let (events, _) = read(&mut reader);
    assert_eq!(events.len(), 2);
}
