//! Which memories a search may find. Checked by the trust boundary, applied by the backend.

use jiff::Timestamp;

use crate::config::Kind;

/// Conditions on a memory, all of which it has to meet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Only this kind.
    pub kind: Option<Kind>,
    /// Only those that have all of these tags; case does not matter.
    pub tags: Vec<String>,
    /// Only those saved at this time or later.
    pub since: Option<Timestamp>,
    /// Only those saved at this time or earlier.
    pub until: Option<Timestamp>,
    /// Only those at least this important.
    pub min_importance: Option<f64>,
}
