//! Strings that many documents share, each kept once.

use std::collections::HashMap;

/// Names and their numbers.
#[derive(Default)]
pub(super) struct Names {
    list: Vec<Box<str>>,
    ids: HashMap<Box<str>, u32>,
}

impl Names {
    /// The number of a name, a new one if need be.
    pub(super) fn id(&mut self, name: &str) -> u32 {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = self.list.len() as u32;
        self.list.push(name.into());
        self.ids.insert(name.into(), id);
        id
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The name with a number; empty for none.
    pub(super) fn get(&self, id: u32) -> &str {
        self.list.get(id as usize).map_or("", |name| name)
    }
}
