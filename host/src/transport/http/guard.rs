//! Who may come in: the right name, no foreign web page, the right token.
//!
//! A web page can make its visitor's browser send requests to this machine, under a name that it has pointed here (DNS
//! rebinding). It can't choose what the browser says in `Host` and `Origin`, so these are what to look at.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN, WWW_AUTHENTICATE};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::Response;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::answer;
use super::headers::only;
use crate::jsonrpc::shorten;
use crate::protocol::Field;

/// The shortest token that is accepted: shorter ones can be guessed.
pub const MIN_TOKEN_CHARS: usize = 16;

/// What every request must carry.
#[derive(Clone)]
pub struct Token {
    /// Keyed anew in each process, so that how long a comparison takes says nothing.
    key: Hmac<Sha256>,
    code: [u8; 32],
}

/// Why something is no token.
#[derive(Debug, PartialEq, Eq)]
pub enum BadToken {
    /// It has this many characters.
    TooShort(usize),
    /// It has a character that can't be in a header.
    NoAscii,
    /// The system gives no random numbers.
    NoRandomness,
}

impl fmt::Display for BadToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadToken::TooShort(length) => write!(
                f,
                "the token has {length} characters, it must have at least {MIN_TOKEN_CHARS}"
            ),
            BadToken::NoAscii => f.write_str("the token must be visible ASCII, without spaces"),
            BadToken::NoRandomness => f.write_str("the system gives no random numbers"),
        }
    }
}

impl std::error::Error for BadToken {}

impl Token {
    /// Takes a token; white space around it does not belong to it.
    ///
    /// # Errors
    ///
    /// It is too short to be safe, or can't be sent in a header.
    pub fn new(text: &str) -> Result<Token, BadToken> {
        let text = text.trim();
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(BadToken::NoAscii);
        }
        if text.len() < MIN_TOKEN_CHARS {
            return Err(BadToken::TooShort(text.len()));
        }
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|_| BadToken::NoRandomness)?;
        let key = Hmac::new_from_slice(&key).map_err(|_| BadToken::NoRandomness)?;
        let code = key
            .clone()
            .chain_update(text)
            .finalize()
            .into_bytes()
            .into();
        Ok(Token { key, code })
    }

    /// Whether this is the token. Takes as long for one that is nearly right as for any other of its length.
    fn is(&self, text: &str) -> bool {
        let code = self.key.clone().chain_update(text);
        code.verify_slice(&self.code).is_ok()
    }
}

/// What is let in.
pub(super) struct Guard {
    /// Whether other machines can come, who know this one by its address.
    is_public: bool,
    hosts: Vec<String>,
    origins: Vec<String>,
    token: Option<Token>,
}

/// Why something is not let in.
#[derive(Debug, PartialEq, Eq)]
enum Refusal {
    Host(String),
    Origin(String),
    Token,
}

impl Guard {
    pub(super) fn new(
        is_public: bool,
        hosts: Vec<String>,
        origins: Vec<String>,
        token: Option<Token>,
    ) -> Guard {
        Guard {
            is_public,
            hosts,
            origins,
            token,
        }
    }

    fn check_names(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let host = match only(headers, &HOST) {
            Field::Text(host) => host,
            Field::Absent => return Err(Refusal::Host(String::new())),
            Field::Malformed(_) => return Err(Refusal::Host("?".to_owned())),
        };
        if !self.may_be_called(&host) {
            return Err(Refusal::Host(host));
        }
        if let Some(authority) = uri.authority()
            && !self.may_be_called(authority.as_str())
        {
            return Err(Refusal::Host(authority.to_string()));
        }
        match only(headers, &ORIGIN) {
            Field::Absent => Ok(()),
            Field::Text(origin) if self.may_come_from(&origin) => Ok(()),
            Field::Text(origin) => Err(Refusal::Origin(origin)),
            Field::Malformed(_) => Err(Refusal::Origin("?".to_owned())),
        }
    }

    fn check_token(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let Some(token) = &self.token else {
            return Ok(());
        };
        let Field::Text(credentials) = only(headers, &AUTHORIZATION) else {
            return Err(Refusal::Token);
        };
        match credentials.split_once(' ') {
            Some((scheme, given))
                if scheme.eq_ignore_ascii_case("bearer") && token.is(given.trim()) =>
            {
                Ok(())
            }
            _ => Err(Refusal::Token),
        }
    }

    /// Whether this `host` or `host:port` is us. The port may be any: it can be forwarded, and no page can lie about it
    /// without lying about the name.
    fn may_be_called(&self, authority: &str) -> bool {
        let Ok(parsed) = authority.parse::<Authority>() else {
            return false;
        };
        if authority.contains('@') {
            return false;
        }
        self.is_own_name(parsed.host())
            || self.hosts.iter().any(|host| {
                host.eq_ignore_ascii_case(parsed.host()) || host.eq_ignore_ascii_case(authority)
            })
    }

    fn is_own_name(&self, host: &str) -> bool {
        let address = host.trim_start_matches('[').trim_end_matches(']');
        match address.parse::<IpAddr>() {
            Ok(address) => address.is_loopback() || self.is_public,
            Err(_) => host.eq_ignore_ascii_case("localhost"),
        }
    }

    /// Whether a web page with this origin may call us: one of this machine, or one that was allowed.
    fn may_come_from(&self, origin: &str) -> bool {
        if self
            .origins
            .iter()
            .any(|allowed| allowed.eq_ignore_ascii_case(origin))
        {
            return true;
        }
        let rest = origin
            .strip_prefix("http://")
            .or_else(|| origin.strip_prefix("https://"));
        let Some(Ok(authority)) = rest.map(str::parse::<Authority>) else {
            return false;
        };
        let host = authority.host();
        let address = host.trim_start_matches('[').trim_end_matches(']');
        let is_loopback = address
            .parse()
            .is_ok_and(|address: IpAddr| address.is_loopback());
        !origin.contains('@') && (is_loopback || host.eq_ignore_ascii_case("localhost"))
    }
}

/// Lets in by name what may come from where it comes.
pub(super) async fn names(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    match guard.check_names(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refused(&refusal),
    }
}

/// Lets in what carries the token, if there is one.
pub(super) async fn token(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    match guard.check_token(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refused(&refusal),
    }
}

fn refused(refusal: &Refusal) -> Response {
    match refusal {
        Refusal::Host(host) => answer::refuse(
            StatusCode::FORBIDDEN,
            format!(
                "`Host: {}` is not served here; --allow-host allows further names",
                shorten(host)
            ),
        ),
        Refusal::Origin(origin) => answer::refuse(
            StatusCode::FORBIDDEN,
            format!(
                "web pages from {} may not come here; --allow-origin allows further ones",
                shorten(origin)
            ),
        ),
        Refusal::Token => {
            let mut response = answer::refuse(
                StatusCode::UNAUTHORIZED,
                "`Authorization: Bearer` with the token is missing or wrong",
            );
            let challenge = HeaderValue::from_static("Bearer realm=\"personal-memory\"");
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
            response
        }
    }
}

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;
