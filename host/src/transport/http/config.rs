//! What is served to whom, and the limits of it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use super::guard::{Guard, Token};

/// Where it is served by default: this machine only.
pub const DEFAULT_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7437);

/// How to serve over HTTP.
pub struct Config {
    /// Where to listen. Port 0 is any that is free.
    pub address: SocketAddr,
    /// What every request must carry, unless everybody on this machine may come.
    pub token: Option<Token>,
    /// Names other than this machine's own by which it may be called, such as that of a reverse proxy.
    pub hosts: Vec<String>,
    /// Origins of web pages that may call it, besides those of this machine.
    pub origins: Vec<String>,
    /// The longest message that is read, in bytes.
    pub max_body_bytes: usize,
    /// Calls of the component a second, of all clients together, in the long run.
    pub max_calls_per_second: u32,
    /// How much of everything else there may be.
    pub limits: Limits,
}

/// How much there may be, and how long it may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at a time; more wait to be accepted. Half of the files that a process may open by default.
    pub max_connections: usize,
    /// Headers of a request, in number. Clients send a dozen, and one for each argument that is repeated in them.
    pub max_headers: usize,
    /// Bytes of the headers of a request.
    pub max_header_bytes: usize,
    /// How long a client may take to send the headers of a request, and how long a connection may lie idle. Longer than
    /// clients keep idle connections (some seconds), so that they close them and don't lose a request in the gap.
    pub header_time: Duration,
    /// How long a client may take to send a message: the longest one over a slow line.
    pub body_time: Duration,
    /// How long a client may read nothing of what is being sent: longer than a person keeps a debugger at a breakpoint.
    pub stalled_time: Duration,
    /// How often something is sent on a stream on which nothing happens. Proxies close one that is silent for a minute.
    pub heartbeat: Duration,
    /// Legacy sessions at a time. An app has one, or one for each of its windows; the one that was unused longest gives
    /// way to a new one.
    pub max_sessions: usize,
    /// How long a legacy session may lie unused: a laptop's night, since many clients don't recover from the loss of one.
    pub session_idle: Duration,
    /// Streams that are kept for each legacy session, for a client that lost its connection.
    pub max_kept_streams: usize,
    /// Bytes of these.
    pub max_kept_bytes: usize,
    /// How long calls may take at the end.
    pub end_grace: Duration,
    /// How long clients may take, after that, to read what was said.
    pub flush_grace: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            max_connections: 512,
            max_headers: 128,
            max_header_bytes: 64 << 10,
            header_time: Duration::from_secs(30),
            body_time: Duration::from_secs(60),
            stalled_time: Duration::from_secs(60),
            heartbeat: Duration::from_secs(15),
            max_sessions: 256,
            session_idle: Duration::from_secs(24 * 60 * 60),
            max_kept_streams: 16,
            max_kept_bytes: 1 << 20,
            end_grace: Duration::from_secs(1),
            flush_grace: Duration::from_secs(1),
        }
    }
}

impl Config {
    /// Serving this machine, without a token.
    pub fn local(address: SocketAddr) -> Config {
        Config {
            address,
            token: None,
            hosts: Vec::new(),
            origins: Vec::new(),
            max_body_bytes: crate::transport::stdio::DEFAULT_MAX_LINE_BYTES,
            max_calls_per_second: crate::worker::DEFAULT_MAX_CALLS_PER_SECOND,
            limits: Limits::default(),
        }
    }

    /// Whether only this machine can come here.
    pub fn is_local(&self) -> bool {
        self.address.ip().is_loopback()
    }

    pub(super) fn guard(&self) -> Guard {
        Guard::new(
            !self.is_local(),
            self.hosts.clone(),
            self.origins.clone(),
            self.token.clone(),
        )
    }
}
