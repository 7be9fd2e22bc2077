//! How messages travel. A transport frames bytes into messages, hands them to a protocol session, has calls made in
//! order and sends what comes back. It knows no method.

pub mod http;
mod ids;
mod lines;
mod output;
pub mod stdio;

pub use self::ids::connection as connection_id;
