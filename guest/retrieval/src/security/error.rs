//! Why an untrusted value is refused, in words that let a model correct itself.

use std::fmt;

/// A value that was refused. The message names the argument, the value got, and the bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecurityError {
    /// The arguments as a whole are not an object.
    NotAnObject {
        /// What came instead.
        got: String,
    },
    /// An argument that does not exist.
    Unknown {
        /// Its name, as it may be shown.
        argument: String,
        /// Those that exist.
        known: String,
    },
    /// A required argument that is not there.
    Missing {
        /// Its name.
        argument: String,
    },
    /// A value that is not what it has to be: another type, out of bounds, too long, malformed.
    Invalid {
        /// The argument's name.
        argument: String,
        /// What it has to be, with the bound.
        expected: String,
        /// What came instead, shortened.
        got: String,
    },
    /// A URI that leads nowhere.
    Uri {
        /// Why.
        reason: String,
    },
}

impl fmt::Display for SecurityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnObject { got } => write!(f, "arguments must be an object, got {got}"),
            Self::Unknown { argument, known } => {
                write!(f, "unknown argument {argument}; known are {known}")
            }
            Self::Missing { argument } => write!(f, "{argument} is required"),
            Self::Invalid {
                argument,
                expected,
                got,
            } => write!(f, "{argument} must be {expected}, got {got}"),
            Self::Uri { reason } => f.write_str(reason),
        }
    }
}

impl std::error::Error for SecurityError {}
