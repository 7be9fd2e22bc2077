//! The order in which documents were saved, and whether it means anything.
//!
//! A *sitting* is a session without a long gap in it. What stands beside a memory in its sitting often belongs to it: the
//! answer beside the question, the reason beside the decision. Whether that is so in this store is measured: neighbours of
//! a conversation are more alike than memories at random, those of a list of facts are not.
//!
//! All of this is kept up to date with each change, so that a search after a save costs what any search costs.
//!
//! **Invariant:** it depends on the living documents alone. Sums are of whole numbers, which come out the same in whatever
//! order they were added, and taking one away leaves nothing behind.

use super::columns::{Columns, NO_TIME, NONE};
use super::sums::{Rows, Sums};
use crate::recipe::FULL_COHERENCE;

/// A longer silence ends a sitting, in seconds: four hours. A process may serve one app for weeks, and what was said the
/// next morning is another conversation.
const LONG_GAP: i64 = 4 * 60 * 60;

/// Neighbours are compared up to so many places apart.
const REACH: usize = 2;

/// Living documents in their order.
#[derive(Default)]
pub(super) struct Sittings {
    /// Living slots in the order of their documents' numbers.
    pub(super) order: Vec<u32>,
    /// Whether that is another order than that of the slots, or leaves some out.
    is_mixed: bool,
    sessions: Vec<Session>,
    /// How many have no session.
    alone: usize,
    /// How many documents have each label.
    pub(super) label_counts: Vec<u32>,
    pub(super) sums: Sums,
}

/// The members of a session in their order, and where each of its sittings ends.
#[derive(Default)]
struct Session {
    members: Vec<u32>,
    ends: Vec<u32>,
}

impl Sittings {
    /// Those of documents whose numbers rise, whose sums are known.
    pub(super) fn of(columns: &Columns, sums: Sums) -> Self {
        let mut sittings = Self {
            sums,
            order: (0..columns.len() as u32).collect(),
            ..Self::default()
        };
        for slot in 0..columns.len() as u32 {
            sittings.count_label(columns, slot);
            match sittings.session(columns, slot) {
                Some(session) => session.insert(columns, session.members.len(), slot),
                None => sittings.alone += 1,
            }
        }
        sittings
    }

    /// Takes a living slot in.
    pub(super) fn insert(&mut self, slot: u32, rows: &Rows<'_>) {
        let columns = rows.columns;
        let at = place(columns, &self.order, slot);
        self.is_mixed |= at != self.order.len() || at != slot as usize;
        self.order.insert(at, slot);
        self.count_label(columns, slot);
        self.sums.add_document(rows, slot, 1);
        let Some(mut session) = self.session(columns, slot).map(std::mem::take) else {
            self.alone += 1;
            return;
        };
        let at = place(columns, &session.members, slot);
        self.add_pairs(around(&session.members, at, 0), rows, -1);
        session.insert(columns, at, slot);
        self.add_pairs(around(&session.members, at, 1), rows, 1);
        self.sessions[columns.sessions[slot as usize] as usize] = session;
    }

    /// Takes a slot out that was taken in.
    pub(super) fn remove(&mut self, slot: u32, rows: &Rows<'_>) {
        let columns = rows.columns;
        let at = place(columns, &self.order, slot);
        self.order.remove(at);
        self.is_mixed = true;
        if let Some(count) = self
            .label_counts
            .get_mut(columns.labels[slot as usize] as usize)
        {
            *count -= 1;
        }
        self.sums.add_document(rows, slot, -1);
        let Some(mut session) = self.session(columns, slot).map(std::mem::take) else {
            self.alone -= 1;
            return;
        };
        let at = place(columns, &session.members, slot);
        self.add_pairs(around(&session.members, at, 1), rows, -1);
        session.members.remove(at);
        session.find_ends(columns);
        self.add_pairs(around(&session.members, at, 0), rows, 1);
        self.sessions[columns.sessions[slot as usize] as usize] = session;
    }

    /// Whether the living are all slots, in order: what is asked of one after the other can be asked of all at once.
    pub(super) fn are_all(&self) -> bool {
        !self.is_mixed
    }

    /// The members of each sitting; those who sit alone for want of a session are not among them.
    pub(super) fn each(&self) -> impl Iterator<Item = &[u32]> {
        self.sessions.iter().flat_map(|session| {
            let mut start = 0;
            session.ends.iter().map(move |&end| {
                let members = &session.members[start..end as usize];
                start = end as usize;
                members
            })
        })
    }

    /// Whether any has no session.
    pub(super) fn some_are_alone(&self) -> bool {
        self.alone > 0
    }

    /// How much neighbours count, from 0 to 1.
    pub(super) fn gate(&self) -> f32 {
        (self.sums.coherence() as f32 / FULL_COHERENCE).clamp(0.0, 1.0)
    }

    /// A slot's session so far, if it has one.
    fn session(&mut self, columns: &Columns, slot: u32) -> Option<&mut Session> {
        let session = columns.sessions[slot as usize];
        if session == NONE {
            return None;
        }
        let session = session as usize;
        if session >= self.sessions.len() {
            self.sessions.resize_with(session + 1, Session::default);
        }
        Some(&mut self.sessions[session])
    }

    fn count_label(&mut self, columns: &Columns, slot: u32) {
        let label = columns.labels[slot as usize];
        if label == NONE {
            return;
        }
        let label = label as usize;
        if label >= self.label_counts.len() {
            self.label_counts.resize(label + 1, 0);
        }
        self.label_counts[label] += 1;
    }

    /// Adds the pairs of neighbours among some members that follow each other, or takes them away.
    fn add_pairs(&mut self, members: &[u32], rows: &Rows<'_>, sign: i64) {
        let together = |one: &u32, other: &u32| !is_long_gap(rows.columns, *one, *other);
        for sitting in members.chunk_by(together) {
            for (at, &slot) in sitting.iter().enumerate() {
                for &other in sitting.iter().skip(at + 1).take(REACH) {
                    self.sums.add_pair(rows, slot, other, sign);
                }
            }
        }
    }
}

impl Session {
    fn insert(&mut self, columns: &Columns, at: usize, slot: u32) {
        self.members.insert(at, slot);
        // Nearly all members are newer than all others.
        if at + 1 < self.members.len() {
            self.find_ends(columns);
            return;
        }
        let goes_on = at.checked_sub(1).is_some_and(|before| {
            let before = self.members[before];
            !is_long_gap(columns, before, slot)
        });
        match self.ends.last_mut().filter(|_| goes_on) {
            Some(end) => *end += 1,
            None => self.ends.push(self.members.len() as u32),
        }
    }

    fn find_ends(&mut self, columns: &Columns) {
        let together = |one: &u32, other: &u32| !is_long_gap(columns, *one, *other);
        self.ends.clear();
        let mut end = 0;
        for sitting in self.members.chunk_by(together) {
            end += sitting.len() as u32;
            self.ends.push(end);
        }
    }
}

/// What is near enough to a place in a list, of so many members, for a change there to make or part pairs.
fn around(list: &[u32], at: usize, members: usize) -> &[u32] {
    &list[at.saturating_sub(REACH)..list.len().min(at + members + REACH)]
}

/// Where a slot stands, or should stand, in a list in the order of numbers.
fn place(columns: &Columns, list: &[u32], slot: u32) -> usize {
    let doc = columns.doc(slot);
    match list.last() {
        // Nearly all documents are newer than all others.
        Some(&last) if columns.doc(last) >= doc => {
            list.partition_point(|&other| columns.doc(other) < doc)
        }
        _ => list.len(),
    }
}

fn is_long_gap(columns: &Columns, before: u32, after: u32) -> bool {
    let (before, after) = (
        columns.created[before as usize],
        columns.created[after as usize],
    );
    before != NO_TIME && after != NO_TIME && before.abs_diff(after) > LONG_GAP as u64
}
