//! Both halves of a pool as one snapshot.
//!
//! Documents come in the order of their numbers, everything else in the order of its bytes, so the same documents give the
//! same snapshot, whatever became of them before and on whatever machine. The sections, in order:
//!
//! | section | holds |
//! |---|---|
//! | numbers, lengths, session of each, times, label of each, cues | one u32 a document; times i64, cues u8 |
//! | days of each, days | where each document's days end; year x 512 + month x 32 + day |
//! | lengths of vectors, vectors | one f32 (1 / length) and 64 i8 a document |
//! | sessions, labels | strings: u32 ends, then bytes |
//! | terms, words of terms, words | strings; where the words of each term end; strings |
//! | words with vectors | u32: which words can be like others, rising |
//! | lengths of words' vectors, words' vectors | one f32 and 64 i8 for each of these |
//! | ends of postings, postings | see [`super::base`] |
//! | sums | i64: what [`super::sums`] keeps of neighbours |
//! | embedders, dimensions | strings; one u32 an embedder |
//! | for each embedder: lengths, vectors | one f32 and so many i8 a document; zeros without one |

use std::collections::BTreeMap;

use super::base::write_varint;
use super::columns::NONE;
use super::names::Names;
use super::sections::Writer;
use super::tail::Posting;
use super::{Pool, word_row};

/// What becomes of a slot that has died.
const DEAD: u32 = u32::MAX;

/// Where a word is: in the base, in the tail, or in both.
#[derive(Default)]
struct Places {
    base: Option<usize>,
    tail: Option<usize>,
}

impl Pool {
    /// Everything, as bytes that [`Pool::decode`] takes. The same documents give the same bytes.
    pub fn encode(&self) -> Vec<u8> {
        let order = &self.sittings.order;
        let mut new_slots = vec![DEAD; self.columns.len()];
        for (new, &slot) in order.iter().enumerate() {
            new_slots[slot as usize] = new as u32;
        }
        let mut writer = Writer::default();
        self.write_documents(order, &mut writer);
        self.write_words(&new_slots, &mut writer);
        writer.i64s(self.sittings.sums.numbers());
        self.write_externals(order, &mut writer);
        writer.finish()
    }

    fn write_documents(&self, order: &[u32], writer: &mut Writer) {
        let columns = &self.columns;
        let sessions = Renumbered::new(&self.sessions, order, &columns.sessions);
        let labels = Renumbered::new(&self.labels, order, &columns.labels);
        let rows = || order.iter().map(|&slot| columns.row(slot));
        writer.u32s(rows().map(|row| row.doc));
        writer.u32s(rows().map(|row| row.length));
        writer.u32s(rows().map(|row| sessions.id(row.session)));
        writer.i64s(rows().map(|row| row.created));
        writer.u32s(rows().map(|row| labels.id(row.label)));
        writer.bytes(&rows().map(|row| row.cues).collect::<Vec<_>>());
        let mut end = 0;
        writer.u32s(order.iter().map(|&slot| {
            end += columns.days(slot).count() as u32;
            end
        }));
        writer.u32s(
            order
                .iter()
                .flat_map(|&slot| columns.days(slot).map(|day| day.0)),
        );
        writer.f32s(rows().map(|row| row.inverse));
        let vectors: Vec<i8> = order
            .iter()
            .flat_map(|&slot| self.vector(slot))
            .copied()
            .collect();
        writer.signed(&vectors);
        writer.strings(sessions.names.iter().copied());
        writer.strings(labels.names.iter().copied());
    }

    fn write_words(&self, new_slots: &[u32], writer: &mut Writer) {
        let mut terms = Vec::new();
        let mut term_words = Vec::new();
        let mut words = Vec::new();
        let mut with_rows = Vec::new();
        let mut inverses = Vec::new();
        let mut rows = Vec::new();
        let mut ends = Vec::new();
        let mut bytes = Vec::new();
        let mut postings = Vec::new();
        let all = self.all_words();
        for ((term, word), places) in &all {
            self.collect_postings(places, new_slots, &mut postings);
            if postings.is_empty() {
                continue;
            }
            if terms.last() != Some(term) {
                terms.push(*term);
                term_words.push(words.len() as u32);
            }
            let (row, inverse) = word_row(word);
            if inverse > 0.0 {
                with_rows.push(words.len() as u32);
                rows.extend_from_slice(&row);
                inverses.push(inverse);
            }
            words.push(*word);
            if let Some(last) = term_words.last_mut() {
                *last = words.len() as u32;
            }
            write_postings(&postings, &mut bytes);
            ends.push(bytes.len() as u32);
        }
        writer.strings(terms);
        writer.u32s(term_words);
        writer.strings(words);
        writer.u32s(with_rows);
        writer.f32s(inverses);
        writer.signed(&rows);
        writer.u32s(ends);
        writer.bytes(&bytes);
    }

    /// All words under their terms, sorted.
    fn all_words(&self) -> BTreeMap<(&str, &str), Places> {
        let mut all: BTreeMap<(&str, &str), Places> = BTreeMap::new();
        for (term, words) in self.base.terms() {
            for id in words {
                all.entry((term, self.base.word(id))).or_default().base = Some(id);
            }
        }
        for (id, (word, term)) in self.tail.words.iter().zip(&self.tail.terms).enumerate() {
            all.entry((term, word)).or_default().tail = Some(id);
        }
        all
    }

    /// The postings of a word in both halves, by new slots, without the dead.
    fn collect_postings(&self, places: &Places, new_slots: &[u32], found: &mut Vec<Posting>) {
        found.clear();
        let mut keep = |slot: u32, count: u32| {
            let slot = new_slots[slot as usize];
            if slot != DEAD {
                found.push(Posting { slot, count });
            }
        };
        if let Some(id) = places.base {
            self.base.postings(id, &mut keep);
        }
        if let Some(id) = places.tail {
            for posting in &self.tail.postings[id] {
                keep(posting.slot, posting.count);
            }
        }
        found.sort_unstable_by_key(|posting| posting.slot);
    }

    fn write_externals(&self, order: &[u32], writer: &mut Writer) {
        let mut spaces: Vec<_> = self
            .externals
            .iter()
            .filter(|space| order.iter().any(|&slot| space.has(slot)))
            .collect();
        spaces.sort_unstable_by_key(|space| space.name());
        writer.strings(spaces.iter().map(|space| space.name()));
        writer.u32s(spaces.iter().map(|space| space.dimensions() as u32));
        for space in spaces {
            let mut inverses = Vec::with_capacity(order.len());
            let mut rows = vec![0; order.len() * space.dimensions()];
            for (&slot, cell) in order.iter().zip(rows.chunks_exact_mut(space.dimensions())) {
                let (row, inverse) = space.get(slot, &self.base);
                inverses.push(inverse);
                cell[..row.len()].copy_from_slice(row);
            }
            writer.f32s(inverses);
            writer.signed(&rows);
        }
    }
}

fn write_postings(postings: &[Posting], bytes: &mut Vec<u8>) {
    let mut before = 0;
    for posting in postings {
        let more = u32::from(posting.count > 1);
        write_varint(bytes, (posting.slot - before) << 1 | more);
        if more == 1 {
            write_varint(bytes, posting.count);
        }
        before = posting.slot;
    }
}

/// The names that the living use, sorted, and their new numbers.
struct Renumbered<'a> {
    names: Vec<&'a str>,
    new_ids: Vec<u32>,
}

impl<'a> Renumbered<'a> {
    fn new(names: &'a Names, order: &[u32], ids: &[u32]) -> Self {
        let mut used: Vec<u32> = order
            .iter()
            .map(|&slot| ids[slot as usize])
            .filter(|&id| id != NONE)
            .collect();
        used.sort_unstable();
        used.dedup();
        used.sort_unstable_by_key(|&id| names.get(id));
        let mut new_ids = vec![NONE; names.len()];
        for (new, &id) in used.iter().enumerate() {
            new_ids[id as usize] = new as u32;
        }
        Self {
            names: used.iter().map(|&id| names.get(id)).collect(),
            new_ids,
        }
    }

    fn id(&self, old: u32) -> u32 {
        self.new_ids.get(old as usize).copied().unwrap_or(NONE)
    }
}
