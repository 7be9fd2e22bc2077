//! Ids that nobody else ever has.

use std::io;

/// An id of so many random bytes, in hexadecimal digits.
///
/// # Errors
///
/// The system gives no random numbers.
pub(crate) fn random<const BYTES: usize>() -> io::Result<String> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Bytes of an id by which a component tells connections apart: enough to never repeat.
const CONNECTION_BYTES: usize = 8;

/// An id for a connection that no other one ever has, of other processes too.
///
/// # Errors
///
/// The system gives no random numbers.
pub fn connection() -> io::Result<String> {
    random::<CONNECTION_BYTES>()
}
