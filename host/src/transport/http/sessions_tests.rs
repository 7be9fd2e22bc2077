use super::*;
use crate::protocol::Service;
use crate::sandbox::Profile;
use crate::seal_key::SealKey;
use crate::transport::http::stream::RequestOutbox;

const IDLE: Duration = Duration::from_secs(100);

fn sessions() -> Arc<Sessions> {
    Sessions::new(Limits {
        max_sessions: 2,
        session_idle: IDLE,
        max_kept_streams: 2,
        max_kept_bytes: 1000,
        ..Limits::default()
    })
}

fn session() -> Session {
    let service = Service::new(Profile::of_nothing(), SealKey::beside(None), Duration::MAX);
    Session::new(Arc::new(service), "s".to_owned())
}

fn opened(sessions: &Sessions, now: Instant) -> (String, Use) {
    sessions.open(session(), now).unwrap().unwrap()
}

#[test]
fn the_session_that_was_unused_longest_gives_way_to_a_new_one() {
    let sessions = sessions();
    let (first, used) = opened(&sessions, Instant::now());
    drop(used);
    let (second, used) = opened(&sessions, Instant::now());
    drop(used);
    drop(sessions.find(&first));
    let (third, _used) = opened(&sessions, Instant::now());
    assert!(
        sessions.find(&first).is_some(),
        "it was used after the second one"
    );
    assert!(sessions.find(&second).is_none());
    assert!(sessions.find(&third).is_some());
}

#[test]
fn sessions_in_use_give_way_to_nobody() {
    let sessions = sessions();
    let (_, _first) = opened(&sessions, Instant::now());
    let (_, second) = opened(&sessions, Instant::now());
    let Err(Full(limit)) = sessions
        .open(session(), Instant::now())
        .unwrap()
        .map(|_| ())
    else {
        panic!("there is no room");
    };
    assert_eq!(limit, 2);
    drop(second);
    assert!(sessions.open(session(), Instant::now()).unwrap().is_ok());
}

#[test]
fn a_session_that_is_not_used_expires_and_its_streams_end() {
    let sessions = sessions();
    let (id, used) = opened(&sessions, Instant::now());
    let unsolicited = Arc::clone(&used.unsolicited);
    let later = Instant::now() + IDLE;
    assert_eq!(sessions.time_left(&id, later), Some(IDLE), "in use");
    drop(used);
    assert!(sessions.time_left(&id, Instant::now()).is_some());
    assert!(!unsolicited.is_finished());
    let later = Instant::now() + IDLE;
    assert_eq!(sessions.time_left(&id, later), None);
    assert!(sessions.find(&id).is_none());
    assert!(unsolicited.is_finished());
    assert!(!sessions.close(&id));
}

#[test]
fn finished_streams_are_kept_only_in_such_a_number() {
    let sessions = sessions();
    let (_, used) = opened(&sessions, Instant::now());
    let limits = sessions.limits;
    let finished = |used: &Use| {
        let stream = used.stream();
        stream.finish();
        used.keep(Arc::clone(&stream), &limits);
        stream.number
    };
    let (one, two, three) = (finished(&used), finished(&used), finished(&used));
    assert!(used.kept(one).is_none());
    assert!(used.kept(two).is_some() && used.kept(three).is_some());
    // Those that go on are kept whatever their number.
    let open: Vec<_> = (0..5).map(|_| used.stream()).collect();
    for stream in &open {
        used.keep(Arc::clone(stream), &limits);
    }
    assert!(open.iter().all(|stream| used.kept(stream.number).is_some()));
    assert!(used.kept(two).is_none() && used.kept(three).is_none());
    assert!(used.kept(UNSOLICITED).is_some());
}

#[test]
fn finished_streams_are_kept_only_up_to_so_many_bytes() {
    let sessions = sessions();
    let (_, used) = opened(&sessions, Instant::now());
    let long = used.stream();
    let outbox = RequestOutbox {
        stream: Arc::clone(&long),
        unsolicited: None,
    };
    let text = "x".repeat(sessions.limits.max_kept_bytes);
    let message = crate::jsonrpc::OutgoingNotification::new("m", text).unwrap();
    crate::protocol::Outbox::offer(&outbox, message);
    used.keep(Arc::clone(&long), &sessions.limits);
    assert!(used.kept(long.number).is_some(), "it goes on");
    drop(outbox);
    used.keep(used.stream(), &sessions.limits);
    assert!(used.kept(long.number).is_none());
}
