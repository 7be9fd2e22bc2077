//! The trust boundary: untrusted values in, checked types or a [`SecurityError`] out.
//!
//! Everything that a model or a client sends passes through here before anything acts on it. The schemas that tools
//! publish are advice; these checks are the rule, and both are made from the bounds in [`crate::config`]. What is not
//! understood is refused.

mod args;
mod entry;
mod error;
mod uri;

pub use args::{
    RecentArgs, SaveArgs, SearchArgs, check_query, validate_id_args, validate_recent_args,
    validate_save_args, validate_search_args,
};
pub use entry::{NewMemory, RawMemory, UpdateArgs, validate_new_memory, validate_update_args};
pub use error::SecurityError;
pub(crate) use uri::parse_id;
pub use uri::{ResourceUri, validate_resource_uri};

use crate::config::ECHO_CHARS;
use crate::visible::one_line;

/// A caller's value as it may stand in a message: on one line, and cut.
pub fn echo(value: &str) -> String {
    // Debug escapes most of what is not seen.
    let quoted = |part: &str| one_line(&format!("{part:?}"));
    match value.char_indices().nth(ECHO_CHARS) {
        None => quoted(value),
        Some((end, _)) => format!(
            "{}… ({} characters)",
            quoted(&value[..end]),
            value.chars().count()
        ),
    }
}
