//! Seals state that travels through a client, so that it comes back as it was, in time, and with the request that it
//! belongs to, or not at all (specification 2026-07-28, "Multi Round-Trip Requests", server requirements).
//!
//! It is not encrypted: a client can read it. It is not used up either: within its time it is good for the same request
//! any number of times, so what must happen only once is the component's to see to. A server has one person, so there is
//! no principal to bind it to.
//!
//! A sealed state is, in unpadded base64url: a version byte, the expiry in milliseconds since 1970 (8 bytes, big-endian),
//! the content, and HMAC-SHA256 over all of that and the digest of the request (32 bytes).

use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::jsonrpc::{INTERNAL_ERROR, RpcError};
use crate::sandbox::Call;
use crate::seal_key::SealKey;

/// Another layout gets another number, and its states are refused by the programs before.
const FORMAT: u8 = 1;

const EXPIRY_BYTES: usize = 8;
const TAG_BYTES: usize = 32;
const HEADER_BYTES: usize = 1 + EXPIRY_BYTES;

/// What a state is sealed for, apart from any other use of the key.
const DOMAIN: &[u8] = b"personal-memory request state\0";

/// Bytes of content: vectors for as many texts as may be wanted at once, with room for a state. It travels twice with
/// each question, so whoever has more keeps it in the store and only says where.
pub(super) const MAX_CONTENT_BYTES: usize = 1 << 20;

/// The longest that [`Seal::seal`] makes: base64 has four characters for three bytes.
const MAX_SEALED_CHARS: usize = (HEADER_BYTES + MAX_CONTENT_BYTES + TAG_BYTES).div_ceil(3) * 4;

/// What a state is about: a request, in any order of its arguments.
pub(super) type RequestDigest = [u8; 32];

/// Seals and opens states.
pub(super) struct Seal {
    key: SealKey,
    /// How long a state is good.
    lifetime: Duration,
}

/// Why a state is not opened.
#[derive(Debug, PartialEq, Eq)]
enum Rejected {
    /// It was never given out here, or for another request, or was changed.
    Foreign,
    /// Its time is over.
    Expired,
}

impl Seal {
    pub(super) fn new(key: SealKey, lifetime: Duration) -> Seal {
        Seal { key, lifetime }
    }

    /// Seals `content` for a request.
    pub(super) fn seal(&self, content: &[u8], about: &RequestDigest) -> Result<String, RpcError> {
        self.seal_at(content, about, SystemTime::now())
    }

    fn seal_at(
        &self,
        content: &[u8],
        about: &RequestDigest,
        now: SystemTime,
    ) -> Result<String, RpcError> {
        if content.len() > MAX_CONTENT_BYTES {
            let message = format!(
                "the component wants {} bytes to be kept while the client is asked, the limit is {MAX_CONTENT_BYTES}",
                content.len()
            );
            return Err(RpcError::new(INTERNAL_ERROR, message));
        }
        let expiry = milliseconds(now + self.lifetime);
        let mut sealed = Vec::with_capacity(HEADER_BYTES + content.len() + TAG_BYTES);
        sealed.push(FORMAT);
        sealed.extend(expiry.to_be_bytes());
        sealed.extend(content);
        let tag = self.mac(&sealed, about)?.finalize().into_bytes();
        sealed.extend(tag);
        Ok(URL_SAFE_NO_PAD.encode(sealed))
    }

    /// The content that was sealed for this request.
    pub(super) fn open(&self, sealed: &str, about: &RequestDigest) -> Result<Vec<u8>, RpcError> {
        let opened = self.open_at(sealed, about, SystemTime::now())?;
        opened.map_err(|rejected| match rejected {
            Rejected::Foreign => RpcError::invalid_params(
                "`requestState` was not given out here for this request; make the request without it",
            ),
            Rejected::Expired => RpcError::invalid_params(format!(
                "`requestState` was given out more than {} s ago; make the request without it",
                self.lifetime.as_secs_f64()
            )),
        })
    }

    fn open_at(
        &self,
        sealed: &str,
        about: &RequestDigest,
        now: SystemTime,
    ) -> Result<Result<Vec<u8>, Rejected>, RpcError> {
        if sealed.len() > MAX_SEALED_CHARS {
            return Ok(Err(Rejected::Foreign));
        }
        let Ok(mut content) = URL_SAFE_NO_PAD.decode(sealed) else {
            return Ok(Err(Rejected::Foreign));
        };
        let Some((covered, tag)) = content.split_last_chunk::<TAG_BYTES>() else {
            return Ok(Err(Rejected::Foreign));
        };
        // In constant time; and nothing is looked at before it is known to be ours.
        if self.mac(covered, about)?.verify_slice(tag).is_err() {
            return Ok(Err(Rejected::Foreign));
        }
        let Some((&FORMAT, rest)) = covered.split_first() else {
            return Ok(Err(Rejected::Foreign));
        };
        let Some((expiry, _)) = rest.split_first_chunk::<EXPIRY_BYTES>() else {
            return Ok(Err(Rejected::Foreign));
        };
        if u64::from_be_bytes(*expiry) < milliseconds(now) {
            return Ok(Err(Rejected::Expired));
        }
        content.truncate(covered.len());
        content.drain(..HEADER_BYTES);
        Ok(Ok(content))
    }

    /// All that goes before the end has a fixed length, so no two inputs look the same.
    fn mac(&self, covered: &[u8], about: &RequestDigest) -> Result<Hmac<Sha256>, RpcError> {
        let failed = |error: io::Error| {
            RpcError::new(INTERNAL_ERROR, format!("no state can be sealed: {error}"))
        };
        let key = self.key.bytes().map_err(failed)?;
        let mut mac = Hmac::<Sha256>::new_from_slice(&key)
            .map_err(|error| failed(io::Error::other(error)))?;
        mac.update(DOMAIN);
        mac.update(about);
        mac.update(covered);
        Ok(mac)
    }
}

/// What a call is about. A client may write the same arguments in another order when it makes the request again.
/// `server` is whoever reads the state: another component, or another version of it, is not served it.
pub(super) fn digest(call: &Call, server: (&str, &str)) -> RequestDigest {
    let about = match call {
        Call::CallTool {
            name, arguments, ..
        } => {
            let arguments: Value = serde_json::from_str(arguments).unwrap_or(Value::Null);
            json!(["tools/call", name, arguments])
        }
        Call::ReadResource { uri, .. } => json!(["resources/read", uri]),
        Call::GetPrompt {
            name, arguments, ..
        } => {
            let arguments: Value = arguments
                .iter()
                .map(|(name, value)| (name.clone(), Value::from(value.as_str())))
                .collect();
            json!(["prompts/get", name, arguments])
        }
        // Nothing else is ever asked about.
        _ => Value::Null,
    };
    let mut hash = Sha256::new();
    feed(&mut hash, &json!([server.0, server.1, about]));
    hash.finalize().into()
}

/// Feeds a value to a hash: what it is, how long, and what is in it, an object's members in order of their names.
fn feed(hash: &mut Sha256, value: &Value) {
    let mut begin = |kind: u8, length: usize| {
        hash.update([kind]);
        hash.update((length as u64).to_be_bytes());
    };
    match value {
        Value::Null => begin(b'0', 0),
        Value::Bool(value) => begin(b'?', usize::from(*value)),
        Value::Number(number) => {
            let text = number.to_string();
            begin(b'#', text.len());
            hash.update(text);
        }
        Value::String(text) => {
            begin(b'"', text.len());
            hash.update(text);
        }
        Value::Array(items) => {
            begin(b'[', items.len());
            for item in items {
                feed(hash, item);
            }
        }
        Value::Object(members) => {
            begin(b'{', members.len());
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            for (name, member) in members {
                feed(hash, &Value::from(name.as_str()));
                feed(hash, member);
            }
        }
    }
}

fn milliseconds(time: SystemTime) -> u64 {
    // A clock before 1970 is no clock.
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[path = "seal_tests.rs"]
mod tests;
