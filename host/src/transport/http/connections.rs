//! Connections: only so many, none that stands still for ever, all closed in good order at the end.

use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use hyper::server::conn::http1::Builder;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, Sleep, sleep};

use super::config::Limits;
use crate::transport::ids;

/// How long is waited when no connection can be accepted, for want of files most likely.
const BREATH: Duration = Duration::from_millis(100);

/// The client at the other end of a connection.
#[derive(Clone)]
pub(super) struct Peer {
    /// Tells a component which calls belong together.
    pub(super) id: String,
}

/// Serves connections until `ending` says so. What is returned are those that are still open.
pub(super) async fn accept(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    ending: watch::Receiver<bool>,
) -> JoinSet<()> {
    let room = Arc::new(Semaphore::new(limits.max_connections));
    let mut open = JoinSet::new();
    let mut told = ending.clone();
    let mut ended = pin!(told.wait_for(|ending| *ending));
    loop {
        let accepted = async {
            let permit = Arc::clone(&room).acquire_owned().await;
            (listener.accept().await, permit)
        };
        let (accepted, permit) = tokio::select! {
            accepted = accepted => accepted,
            _ = &mut ended => return open,
        };
        match accepted {
            Ok((stream, _)) => {
                let connection = serve(stream, router.clone(), limits, ending.clone());
                open.spawn(async move {
                    connection.await;
                    drop(permit);
                });
            }
            Err(error) => {
                tracing::warn!("a connection can't be accepted: {error}");
                sleep(BREATH).await;
            }
        }
        // Those that are over.
        while open.try_join_next().is_some() {}
    }
}

async fn serve(
    stream: TcpStream,
    router: Router,
    limits: Limits,
    mut ending: watch::Receiver<bool>,
) {
    // A small message must not wait for the next one.
    let _ = stream.set_nodelay(true);
    let peer = match ids::connection() {
        Ok(id) => Peer { id },
        Err(error) => return tracing::error!("{error}"),
    };
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(peer.clone());
        router.call(request)
    });
    let io = TokioIo::new(Impatient::new(stream, limits.stalled_time));
    let mut builder = Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_time)
        .max_headers(limits.max_headers)
        .max_header_size(limits.max_header_bytes);
    let mut connection = pin!(builder.serve_connection(io, service));
    let mut is_ending = false;
    loop {
        tokio::select! {
            result = connection.as_mut() => {
                if let Err(error) = result {
                    tracing::debug!("a connection broke: {error}");
                }
                return;
            }
            _ = ending.wait_for(|ending| *ending), if !is_ending => {
                is_ending = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}

/// A connection that breaks when the other end takes nothing for too long.
struct Impatient {
    stream: TcpStream,
    patience: Duration,
    /// Runs while something waits to be taken.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl Impatient {
    fn new(stream: TcpStream, patience: Duration) -> Impatient {
        Impatient {
            stream,
            patience,
            deadline: None,
        }
    }

    /// Watches over something that was tried.
    fn watch<T>(
        &mut self,
        tried: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if tried.is_ready() {
            self.deadline = None;
            return tried;
        }
        let patience = self.patience;
        let deadline = self
            .deadline
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + patience)));
        ready!(deadline.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Impatient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Impatient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let tried = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(tried, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let tried = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.watch(tried, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
#[path = "connections_tests.rs"]
mod tests;
