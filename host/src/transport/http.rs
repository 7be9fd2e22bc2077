//! Streamable HTTP: one endpoint for both eras, for many clients at a time.
//!
//! One thread does all that is asynchronous; the worker makes calls. A request passes `guard`, then `endpoint`, which
//! decides its era: `modern` or `legacy` with its `sessions`. What is said to a client goes through a `stream`, and
//! leaves as one message or as `events`.
//!
//! TLS is not spoken here: that is for a reverse proxy, which has the certificates.

mod answer;
mod body;
mod config;
mod connections;
mod endpoint;
mod events;
mod guard;
mod headers;
mod legacy;
mod modern;
mod server;
mod sessions;
mod stream;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use axum::{Router, middleware};
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::timeout;

pub use self::config::{Config, DEFAULT_ADDRESS, Limits};
pub use self::guard::{BadToken, MIN_TOKEN_CHARS, Token};
use self::headers::JSON;
use self::modern::Calls;
use self::server::Server;
use self::sessions::Sessions;
use crate::embedder::Embedder;
use crate::protocol::{Parameters, Service};
use crate::sandbox::Sandbox;
use crate::signals;
use crate::worker::Worker;

/// The path of the endpoint.
const ENDPOINT: &str = "/mcp";

/// The path that says whether the server is alive, to whoever keeps it so.
const HEALTH: &str = "/healthz";

/// Serves clients until the process is asked to end. `announce` is called once with the address that is listened on.
///
/// # Errors
///
/// The address can't be listened on, or signals can't be listened for.
pub fn serve(
    config: Config,
    sandbox: Sandbox,
    service: Arc<Service>,
    embedder: Option<Embedder>,
    announce: impl FnOnce(SocketAddr),
) -> io::Result<()> {
    let listener = std::net::TcpListener::bind(config.address)?;
    listener.set_nonblocking(true)?;
    let (asked, mut asked_to_end) = mpsc::unbounded_channel();
    signals::on_termination(move |name| {
        // Fails when the end has come.
        let _ = asked.send(name);
    })?;
    let address = listener.local_addr()?;
    // Asks the component something, which waits: so not within the runtime.
    let server = start(config, sandbox, service, embedder);
    let runtime = Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()?;
    let served = runtime.block_on(async {
        let listener = TcpListener::from_std(listener)?;
        announce(address);
        let (end, ending) = watch::channel(false);
        let router = router(&server);
        let limits = server.config.limits;
        let accepting = tokio::spawn(connections::accept(listener, router, limits, ending));
        if let Some(name) = asked_to_end.recv().await {
            tracing::info!("{name}: the server ends");
        }
        // Nobody comes in any more; connections close when they have what they wait for.
        end.send_replace(true);
        let open = accepting.await.unwrap_or_default();
        finish(&server, open).await;
        Ok(())
    });
    runtime.shutdown_background();
    served
}

fn start(
    config: Config,
    mut sandbox: Sandbox,
    service: Arc<Service>,
    embedder: Option<Embedder>,
) -> Arc<Server> {
    let parameters = Arc::new(Parameters::of(&mut sandbox));
    Arc::new(Server {
        sessions: Sessions::new(config.limits),
        calls: Arc::new(Calls::default()),
        worker: Worker::start(
            sandbox,
            Arc::clone(&service),
            embedder,
            config.max_calls_per_second,
        ),
        config,
        service,
        parameters,
    })
}

fn router(server: &Arc<Server>) -> Router {
    let guard = Arc::new(server.config.guard());
    let endpoint = get(endpoint::get)
        .post(endpoint::post)
        .delete(endpoint::delete)
        .fallback(endpoint::other);
    Router::new()
        .route(ENDPOINT, endpoint)
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(&guard),
            guard::token,
        ))
        .route(HEALTH, get(health))
        .layer(middleware::from_fn_with_state(guard, guard::names))
        .with_state(Arc::clone(server))
}

async fn health() -> (
    StatusCode,
    [(axum::http::HeaderName, &'static str); 1],
    &'static str,
) {
    (
        StatusCode::OK,
        [(CONTENT_TYPE, JSON)],
        "{\"status\":\"ok\"}",
    )
}

/// Ends in good order: calls have their time, then subscriptions and sessions are told, then connections close.
async fn finish(server: &Arc<Server>, mut open: JoinSet<()>) {
    let limits = server.config.limits;
    let ending = Arc::clone(server);
    let finished = spawn_blocking(move || ending.worker.finish(limits.end_grace));
    if let Err(error) = finished.await {
        tracing::error!("calls could not be ended: {error}");
    }
    server.calls.end();
    server.sessions.end();
    let all_closed = async { while open.join_next().await.is_some() {} };
    if timeout(limits.flush_grace, all_closed).await.is_err() {
        tracing::warn!("clients that do not read are disconnected");
    }
}
