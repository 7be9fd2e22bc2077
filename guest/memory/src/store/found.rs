//! What following the journal turns up, and who takes it.

use super::entries::Entries;
use super::entry::Place;
use super::event::Event;

/// What following the journal turns up, in order.
#[derive(Debug, PartialEq)]
#[allow(
    clippy::large_enum_variant,
    reason = "each is handed on at once, and most are events"
)]
pub(crate) enum Found {
    /// It is not the file that was read before: all that was found in that one is void.
    Reset,
    /// What the first part of the file adds up to, from a snapshot. Only at its start.
    Snapshot(Box<Entries>),
    /// Something happened, and the line that says so.
    Event(Event, Place),
    /// Bytes that can't be used may have held so many memories. Their ids follow on those known so far, for ids are
    /// given out in order, and must not be given out again.
    Lost(u64),
    /// Bytes that can't be used mention this id, so it must not be given out again.
    Seen(u64),
    /// The first line can't be used, and with it the record of which ids were given out.
    HeaderLost,
}

/// Takes what is found. An event that contradicts those before it is refused, with the reason, and set aside.
pub(crate) type Apply<'a> = &'a mut dyn FnMut(Found) -> Result<(), &'static str>;
