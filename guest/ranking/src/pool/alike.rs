//! Which words of a store are like a word.
//!
//! Words that can be like others have a row, most of a store's names have none. To compare a word with all of
//! them is most of what a search costs in a small store, and people ask again about what they are at: so what was found is
//! remembered. What came since is compared when the word is asked for again.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::base::Base;
use super::tail::Tail;
use super::word_row;
use crate::recipe::SOFT_FLOOR;
use crate::scan::Probe;
use crate::table::DIMENSIONS;

/// So many likenesses are remembered, of all words together, a word counted as one: half a megabyte. A word has some
/// hundred.
const MAX_REMEMBERED: usize = 64 * 1024;

/// So many rows are compared before their words are looked at.
const TOGETHER: usize = 64;

/// Words with rows.
#[derive(Default)]
pub(super) struct WordRows {
    /// Their numbers, which rise.
    pub(super) words: Vec<u32>,
    /// 1 divided by the length of each row.
    pub(super) inverses: Vec<f32>,
}

/// What is like a word.
#[derive(Default)]
pub(super) struct Likenesses {
    /// Words and how like they are, from 0 at the floor to 1, most alike first. Words of the base are numbered first, those
    /// of the tail after them.
    pub(super) list: Vec<(u32, f32)>,
    /// So many rows of the tail have been looked at.
    of_tail: usize,
}

/// What was found before.
#[derive(Default)]
pub(super) struct Remembered {
    of_word: RefCell<HashMap<Box<str>, Rc<Likenesses>>>,
    /// The likenesses in there, and one for each word.
    size: Cell<usize>,
}

impl Remembered {
    /// What is like a word, itself included where the store has it.
    pub(super) fn alike(&self, word: &str, base: &Base, tail: &Tail) -> Rc<Likenesses> {
        let mut of_word = self.of_word.borrow_mut();
        let known = of_word.get(word);
        if let Some(known) = known
            && known.of_tail == tail.word_rows.words.len()
        {
            return Rc::clone(known);
        }
        let (row, inverse) = word_row(word);
        let vector: [f32; DIMENSIONS] = row.map(f32::from);
        let Some(probe) = Probe::new(&vector).filter(|_| inverse > 0.0) else {
            // Nor is it remembered: queries have any number of such words.
            return Rc::default();
        };
        let found = Rc::new(Likenesses::find(&probe, known.map(Rc::as_ref), base, tail));
        let size_of = |likenesses: &Likenesses| likenesses.list.len() + 1;
        let mut size = self.size.get() - known.map_or(0, |known| size_of(known));
        if size + size_of(&found) > MAX_REMEMBERED {
            of_word.clear();
            size = 0;
        }
        self.size.set(size + size_of(&found));
        of_word.insert(word.into(), Rc::clone(&found));
        found
    }
}

impl Likenesses {
    /// Goes on from what is known, or from the start.
    fn find(probe: &Probe, known: Option<&Self>, base: &Base, tail: &Tail) -> Self {
        let mut found = Self {
            list: known.map(|known| known.list.clone()).unwrap_or_default(),
            of_tail: tail.word_rows.words.len(),
        };
        if known.is_none() {
            found.add(probe, (base.word_rows(), base.rows_of_words()), 0, 0);
        }
        let from = known.map_or(0, |known| known.of_tail);
        found.add(
            probe,
            (&tail.word_rows, tail.rows_of_words()),
            from,
            base.word_count(),
        );
        found
            .list
            .sort_unstable_by(|left, right| right.1.total_cmp(&left.1));
        found
    }

    /// Compares rows from one of them on; their words are numbered from `first` on.
    fn add(&mut self, probe: &Probe, (words, rows): (&WordRows, &[i8]), from: usize, first: usize) {
        let mut cosines = Vec::with_capacity(TOGETHER);
        let words = words.words[from..]
            .chunks(TOGETHER)
            .zip(words.inverses[from..].chunks(TOGETHER));
        let rows = rows[from * DIMENSIONS..].chunks(TOGETHER * DIMENSIONS);
        for ((words, inverses), rows) in words.zip(rows) {
            probe.cosines(rows, inverses, &mut cosines);
            // Of most no word is looked at by itself.
            let any = cosines
                .iter()
                .fold(false, |any, &cosine| any | (cosine > SOFT_FLOOR));
            if !any {
                continue;
            }
            for (&word, &cosine) in words.iter().zip(&cosines) {
                if cosine > SOFT_FLOOR {
                    let likeness = (cosine - SOFT_FLOOR) / (1.0 - SOFT_FLOOR);
                    self.list.push((first as u32 + word, likeness));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_words_leaves_what_is_remembered_bounded() {
        let (remembered, base, tail) = (Remembered::default(), Base::default(), Tail::default());
        for number in 0..100 {
            remembered.alike(&format!("id{number}"), &base, &tail);
        }
        assert_eq!(remembered.of_word.borrow().len(), 0, "nothing is like them");
        // Any four letters can be taken apart into pieces.
        for number in 0..MAX_REMEMBERED + 10 {
            let letter = |place: u32| char::from(b'a' + (number / 26_usize.pow(place) % 26) as u8);
            let word: String = (0..4).map(letter).collect();
            remembered.alike(&word, &base, &tail);
        }
        let count = remembered.of_word.borrow().len();
        assert!((1..=MAX_REMEMBERED).contains(&count), "{count}");
        assert_eq!(remembered.size.get(), count);
    }
}
