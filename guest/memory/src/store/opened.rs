//! The journal as it was opened for the current call: where texts are read from.

use std::io;

use super::disk::DiskFile;
use super::entry::{Entry, Place};
use super::error::StoreError;
use super::event::{Event, Id};
use super::line::decode;
use super::reader::read_up_to;

/// A journal that is open for reading; or none, where there is none. It is dropped before the call ends: a file that is
/// kept open is one that another process can't replace on every system.
#[derive(Default)]
pub(crate) struct Opened(pub(super) Option<Box<dyn DiskFile>>);

impl Opened {
    /// The text of a memory, from its line.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unreadable`] if the line is not the one that was read before.
    pub(crate) fn text(&mut self, entry: &Entry) -> Result<String, StoreError> {
        let event = self.event(entry.place).map_err(StoreError::Read)?;
        let (id, text) = match event {
            Some(Event::Save(save)) => (save.id, Some(save.text)),
            Some(Event::Update(update)) => (update.id, update.text),
            _ => (Id(entry.id), None),
        };
        text.filter(|_| id.0 == entry.id)
            .ok_or(StoreError::Unreadable { id: entry.id })
    }

    /// What a line says; `None` if it is another one by now.
    fn event(&mut self, place: Place) -> io::Result<Option<Event>> {
        let Some(file) = &mut self.0 else {
            return Ok(None);
        };
        let bytes = read_up_to(file.as_mut(), place.offset, place.length as usize)?;
        Ok(decode(&bytes)
            .ok()
            .filter(|line| line.crc == place.crc)
            .map(|line| line.event))
    }
}
