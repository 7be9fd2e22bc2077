//! What a memory is to say from now on.

use crate::config::Kind;

/// What to change in a memory; what is `None` stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Change {
    /// The new text.
    pub(crate) text: Option<String>,
    /// The new kind.
    pub(crate) kind: Option<Kind>,
    /// All tags that it has from now on.
    pub(crate) tags: Option<Vec<String>>,
    /// The new importance.
    pub(crate) importance: Option<f64>,
}
