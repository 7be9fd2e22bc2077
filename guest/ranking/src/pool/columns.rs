//! What is known of each document besides its words and its vector: one array a fact.

use crate::cues;
use crate::dates::Day;

/// No session, no label.
pub(super) const NONE: u32 = u32::MAX;

/// No time of saving.
pub(super) const NO_TIME: i64 = i64::MIN;

/// The text names a time.
const NAMES_A_TIME: u8 = 1;
/// The text ends in a question mark.
const ENDS_IN_A_QUESTION: u8 = 2;

/// The small signs of a text, one bit each.
pub(super) fn cues(text: &str) -> u8 {
    let mut cues = 0;
    if cues::names_a_time(text) {
        cues |= NAMES_A_TIME;
    }
    if cues::ends_in_a_question(text) {
        cues |= ENDS_IN_A_QUESTION;
    }
    cues
}

/// What is known of one document.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) doc: u32,
    pub(super) length: u32,
    pub(super) session: u32,
    pub(super) created: i64,
    pub(super) label: u32,
    pub(super) cues: u8,
    pub(super) inverse: f32,
}

/// The same of all, by slot.
///
/// **Invariant:** all arrays have one length; `day_ends` never falls and ends at the length of `days`.
#[derive(Default)]
pub(super) struct Columns {
    pub(super) docs: Vec<u32>,
    pub(super) lengths: Vec<u32>,
    pub(super) sessions: Vec<u32>,
    pub(super) created: Vec<i64>,
    pub(super) labels: Vec<u32>,
    pub(super) cues: Vec<u8>,
    pub(super) day_ends: Vec<u32>,
    pub(super) days: Vec<u32>,
    /// 1 divided by the length of the row of the built-in embedding.
    pub(super) inverses: Vec<f32>,
    pub(super) alive: Vec<bool>,
}

impl Columns {
    pub(super) fn names_a_time(&self, at: usize) -> bool {
        self.cues[at] & NAMES_A_TIME != 0
    }

    pub(super) fn ends_in_a_question(&self, at: usize) -> bool {
        self.cues[at] & ENDS_IN_A_QUESTION != 0
    }

    /// How many slots there are, dead ones included.
    pub(super) fn len(&self) -> usize {
        self.docs.len()
    }

    pub(super) fn push(&mut self, row: Row, days: &[Day]) {
        self.docs.push(row.doc);
        self.lengths.push(row.length);
        self.sessions.push(row.session);
        self.created.push(row.created);
        self.labels.push(row.label);
        self.cues.push(row.cues);
        self.inverses.push(row.inverse);
        self.days.extend(days.iter().map(|day| day.0));
        self.day_ends.push(self.days.len() as u32);
        self.alive.push(true);
    }

    pub(super) fn row(&self, slot: u32) -> Row {
        let slot = slot as usize;
        Row {
            doc: self.docs[slot],
            length: self.lengths[slot],
            session: self.sessions[slot],
            created: self.created[slot],
            label: self.labels[slot],
            cues: self.cues[slot],
            inverse: self.inverses[slot],
        }
    }

    #[inline]
    pub(super) fn doc(&self, slot: u32) -> u32 {
        self.docs[slot as usize]
    }

    #[inline]
    pub(super) fn length(&self, slot: u32) -> u32 {
        self.lengths[slot as usize]
    }

    pub(super) fn days(&self, slot: u32) -> impl Iterator<Item = Day> {
        let slot = slot as usize;
        let start = slot
            .checked_sub(1)
            .map_or(0, |before| self.day_ends[before]);
        self.days[start as usize..self.day_ends[slot] as usize]
            .iter()
            .map(|&day| Day(day))
    }

    #[inline]
    pub(super) fn is_alive(&self, slot: u32) -> bool {
        self.alive[slot as usize]
    }

    pub(super) fn bury(&mut self, slot: u32) {
        self.alive[slot as usize] = false;
    }

    /// The living slots, in no particular order of documents.
    pub(super) fn living(&self) -> impl Iterator<Item = u32> {
        (0..self.len() as u32).filter(|&slot| self.is_alive(slot))
    }

    /// The slot of a document among the first ones, whose numbers rise.
    pub(super) fn find(&self, doc: u32, first: usize) -> Option<u32> {
        let slot = self.docs[..first].binary_search(&doc).ok()?;
        Some(slot as u32)
    }
}
