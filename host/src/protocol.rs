//! The Model Context Protocol between transport and component: eras, lifecycle, the table of methods, and the one place
//! where failures become error responses.
//!
//! A transport hands each message to its connection's [`Session`] and does what the returned [`Step`] says. That is the
//! whole door: this room knows no transport, and no transport knows a method.
//!
//! Two eras are served side by side and told apart **per message** (in `scope.rs`): *legacy* revisions open with
//! `initialize` and keep a little state, the *modern* one carries everything in each request.

mod asking;
mod envelope;
mod error;
mod input_required;
mod lifecycle;
mod methods;
mod notify;
mod outbox;
mod parameters;
mod pending;
mod questions;
mod scope;
mod seal;
mod service;
mod session;
mod subscriptions;
mod wants;

pub use self::envelope::{Envelope, Field, HEADER_MISMATCH};
pub use self::error::{MISSING_CLIENT_CAPABILITY, UNSUPPORTED_VERSION};
pub use self::methods::is_handshake;
pub use self::outbox::Outbox;
pub use self::parameters::Parameters;
pub use self::pending::{Finished, PendingCall, Resumed};
pub use self::questions::{Inquiry, Questions};
pub use self::service::{DEFAULT_ASK_TIMEOUT, Service};
pub use self::session::{Session, Step};
pub use self::subscriptions::{Interest, Subscriptions};
