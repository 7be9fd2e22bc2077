//! How messages travel. A transport frames bytes into messages, hands them to a protocol session, has calls made in
//! order and sends what comes back. It knows no method.

mod lines;
mod output;
pub mod stdio;
