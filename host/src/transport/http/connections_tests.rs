use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream as Client};
use std::sync::mpsc;
use std::thread;

use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::{get, post};
use hyper::body::{Body as HttpBody, Frame};

use super::*;
use crate::transport::http::body::read;

/// How long anything may take before a test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// So long that no test waits for it, and so short that a test can.
const NEVER: Duration = Duration::from_secs(3600);
const SOON: Duration = Duration::from_millis(50);

fn limits() -> Limits {
    Limits {
        header_time: NEVER,
        body_time: NEVER,
        stalled_time: NEVER,
        ..Limits::default()
    }
}

/// Serves a router on a thread of its own, for as long as the test lasts.
fn serve_on_thread(router: Router, limits: Limits) -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let (_never, ending) = watch::channel(false);
            let listener = TcpListener::from_std(listener).unwrap();
            accept(listener, router, limits, ending).await;
        });
    });
    address
}

fn connect(address: SocketAddr) -> Client {
    let client = Client::connect(address).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    client
}

fn hello() -> Router {
    Router::new().route("/", get(async || "hello"))
}

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// Reads up to the end of the answer to [`REQUEST`].
fn answered(client: &mut Client) -> std::io::Result<()> {
    let mut text = Vec::new();
    while !text.ends_with(b"hello") {
        let mut byte = [0];
        client.read_exact(&mut byte)?;
        text.push(byte[0]);
    }
    Ok(())
}

#[test]
fn a_connection_on_which_no_request_comes_is_closed() {
    let limits = Limits {
        header_time: SOON,
        ..limits()
    };
    let address = serve_on_thread(hello(), limits);
    for beginning in [&b""[..], b"GET / HTTP/1.1\r\nhost: loc"] {
        let mut client = connect(address);
        client.write_all(beginning).unwrap();
        let mut rest = Vec::new();
        client.read_to_end(&mut rest).unwrap();
        assert!(!String::from_utf8_lossy(&rest).contains("200"));
    }
}

#[test]
fn a_message_that_does_not_come_to_its_end_is_refused() {
    let take = async |headers: HeaderMap, body: Body| match read(&headers, body, 100, SOON).await {
        Ok(_) => Response::new(Body::from("hello")),
        Err(refusal) => *refusal,
    };
    let address = serve_on_thread(Router::new().route("/", post(take)), limits());
    let mut client = connect(address);
    let head = b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 3\r\n\r\nab";
    client.write_all(head).unwrap();
    let mut answer = [0; 12];
    client.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 408");
}

/// A body that never ends, and tells when nobody wants it any more.
struct Endless(mpsc::Sender<()>);

impl HttpBody for Endless {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b'x'; 1024])))))
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

#[test]
fn a_client_that_takes_nothing_is_given_up() {
    let (sender, gone) = mpsc::channel();
    let endless = async move || Response::new(Body::new(Endless(sender)));
    let limits = Limits {
        stalled_time: SOON,
        ..limits()
    };
    let address = serve_on_thread(Router::new().route("/", get(endless)), limits);
    let mut client = connect(address);
    client.write_all(REQUEST).unwrap();
    gone.recv_timeout(PATIENCE).unwrap();
}

#[test]
fn connections_beyond_the_limit_wait_until_there_is_room() {
    let limits = Limits {
        max_connections: 1,
        ..limits()
    };
    let address = serve_on_thread(hello(), limits);
    let mut first = connect(address);
    first.write_all(REQUEST).unwrap();
    answered(&mut first).unwrap();
    let mut second = connect(address);
    second.write_all(REQUEST).unwrap();
    // Can't fail by mistake: it passes at worst when it should not.
    second.set_read_timeout(Some(SOON)).unwrap();
    let error = answered(&mut second).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        "{error}"
    );
    drop(first);
    second.set_read_timeout(Some(PATIENCE)).unwrap();
    answered(&mut second).unwrap();
}

#[test]
fn at_the_end_idle_connections_close_and_busy_ones_are_answered() {
    let (enter, entered) = mpsc::channel();
    let (leave, wait) = tokio::sync::oneshot::channel::<()>();
    let wait = Arc::new(tokio::sync::Mutex::new(Some(wait)));
    let busy = async move || {
        enter.send(()).unwrap();
        if let Some(wait) = wait.lock().await.take() {
            let _ = wait.await;
        }
        "hello"
    };
    let router = Router::new().route("/", get(busy));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let (end, ending) = watch::channel(false);
    let server = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let listener = TcpListener::from_std(listener).unwrap();
            let mut open = accept(listener, router, limits(), ending).await;
            while open.join_next().await.is_some() {}
        });
    });
    let mut idle = connect(address);
    let mut client = connect(address);
    client.write_all(REQUEST).unwrap();
    entered.recv_timeout(PATIENCE).unwrap();
    end.send_replace(true);
    assert_eq!(idle.read(&mut [0]).unwrap(), 0);
    leave.send(()).unwrap();
    answered(&mut client).unwrap();
    assert_eq!(client.read(&mut [0]).unwrap(), 0);
    server.join().unwrap();
}
