//! The order in which documents were saved, and whether it means anything.
//!
//! A *sitting* is a session without a long gap in it. What stands beside a memory in its sitting often belongs to it: the
//! answer beside the question, the reason beside the decision. Whether that is so in this store is measured: neighbours of
//! a conversation are more alike than memories at random, those of a list of facts are not.

use std::collections::HashMap;

use super::columns::{NO_TIME, NONE};
use super::{Columns, Pool};
use crate::recipe::FULL_COHERENCE;
use crate::table::DIMENSIONS;

/// A longer silence ends a sitting, in seconds: four hours. A process may serve one app for weeks, and what was said the
/// next morning is another conversation.
const LONG_GAP: i64 = 4 * 60 * 60;

/// Fewer pairs of neighbours say nothing about a store.
const MIN_PAIRS: usize = 20;

/// So many documents, and pairs of each kind, are looked at; in larger stores they are spread evenly. The mean of so many
/// cosines is off by less than .01.
const SAMPLE: usize = 4096;

/// Documents of a sitting in their order, one sitting after the other.
#[derive(Default)]
pub(super) struct Sittings {
    /// Living slots in the order of their documents' numbers.
    pub(super) order: Vec<u32>,
    /// The same, sitting by sitting.
    pub(super) members: Vec<u32>,
    /// Where each sitting ends in `members`.
    pub(super) ends: Vec<u32>,
    /// How much neighbours count, from 0 to 1.
    pub(super) gate: f32,
    /// How many documents have each label.
    pub(super) label_counts: Vec<u32>,
}

impl Sittings {
    pub(super) fn of(pool: &Pool) -> Self {
        let columns = &pool.columns;
        let mut order: Vec<u32> = columns.living().collect();
        let number = |&slot: &u32| columns.doc(slot);
        if !order.is_sorted_by_key(number) {
            order.sort_unstable_by_key(number);
        }
        let mut label_counts = vec![0; pool.labels.len()];
        for &slot in &order {
            if let Some(count) = label_counts.get_mut(columns.labels[slot as usize] as usize) {
                *count += 1;
            }
        }
        let (members, ends) = split(columns, &order, pool.sessions.len());
        let mut sittings = Self {
            order,
            members,
            ends,
            gate: 0.0,
            label_counts,
        };
        sittings.gate = (sittings.coherence(pool) / FULL_COHERENCE).clamp(0.0, 1.0);
        sittings
    }

    /// The members of each sitting.
    pub(super) fn each(&self) -> impl Iterator<Item = &[u32]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let members = &self.members[start..end as usize];
            start = end as usize;
            members
        })
    }

    /// How much more alike neighbours are (one or two apart) than pairs that are far apart: the difference of the mean
    /// cosines, of vectors from which the mean of all is taken. 0 when there are too few pairs.
    fn coherence(&self, pool: &Pool) -> f32 {
        let near: Vec<(u32, u32)> = self
            .each()
            .flat_map(|sitting| {
                let apart = |by: usize| sitting.iter().zip(sitting.iter().skip(by));
                apart(1).chain(apart(2)).map(|(&one, &other)| (one, other))
            })
            .collect();
        if near.len() < MIN_PAIRS {
            return 0.0;
        }
        let count = self.order.len();
        let far: Vec<(u32, u32)> = [count / 5, count / 3, count / 2]
            .into_iter()
            .flat_map(|by| (0..count).map(move |at| (at, (at + by) % count)))
            .map(|(at, other)| (self.order[at], self.order[other]))
            .collect();
        let mut vectors = Centred::new(pool, &self.order);
        vectors.mean_cosine(&near) - vectors.mean_cosine(&far)
    }
}

/// Groups living slots by sitting.
fn split(columns: &Columns, order: &[u32], sessions: usize) -> (Vec<u32>, Vec<u32>) {
    let mut open: Vec<Option<(u32, i64)>> = vec![None; sessions];
    let mut count = 0_u32;
    let mut sitting_of = Vec::with_capacity(order.len());
    for &slot in order {
        let row = columns.row(slot);
        let before = open.get(row.session as usize).copied().flatten();
        let sitting = match before {
            Some((sitting, last)) if !is_long_gap(last, row.created) => sitting,
            _ => {
                count += 1;
                count - 1
            }
        };
        sitting_of.push(sitting);
        if row.session != NONE {
            open[row.session as usize] = Some((sitting, row.created));
        }
    }
    let mut ends = vec![0_u32; count as usize];
    for &sitting in &sitting_of {
        ends[sitting as usize] += 1;
    }
    let mut end = 0;
    for cell in &mut ends {
        // From sizes to starts; filling makes ends of them.
        let size = std::mem::replace(cell, end);
        end += size;
    }
    let mut members = vec![0; order.len()];
    for (&slot, &sitting) in order.iter().zip(&sitting_of) {
        let place = &mut ends[sitting as usize];
        members[*place as usize] = slot;
        *place += 1;
    }
    (members, ends)
}

fn is_long_gap(before: i64, after: i64) -> bool {
    before != NO_TIME && after != NO_TIME && before.abs_diff(after) > LONG_GAP as u64
}

/// Vectors from which the mean is taken, made when they are asked for.
struct Centred<'a> {
    pool: &'a Pool,
    mean: [f32; DIMENSIONS],
    known: HashMap<u32, [f32; DIMENSIONS]>,
}

impl<'a> Centred<'a> {
    fn new(pool: &'a Pool, order: &[u32]) -> Self {
        let mut mean = [0.0; DIMENSIONS];
        let sample = sample(order);
        let count = sample.clone().count() as f32;
        for &slot in sample {
            add(pool, slot, &mut mean);
        }
        mean.iter_mut().for_each(|value| *value /= count.max(1.0));
        Self {
            pool,
            mean,
            known: HashMap::new(),
        }
    }

    fn mean_cosine(&mut self, pairs: &[(u32, u32)]) -> f32 {
        let pairs = sample(pairs);
        let count = pairs.clone().count() as f32;
        let mut sum = 0.0;
        for &(one, other) in pairs {
            let (one, other) = (self.unit(one), self.unit(other));
            sum += one.iter().zip(&other).map(|(a, b)| a * b).sum::<f32>();
        }
        sum / count.max(1.0)
    }

    /// A centred vector of length 1; zero if there is nothing left.
    fn unit(&mut self, slot: u32) -> [f32; DIMENSIONS] {
        *self.known.entry(slot).or_insert_with(|| {
            let mut vector = self.mean.map(|value| -value);
            add(self.pool, slot, &mut vector);
            let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
            vector.map(|value| value / length.max(1e-9))
        })
    }
}

fn add(pool: &Pool, slot: u32, sum: &mut [f32; DIMENSIONS]) {
    let inverse = pool.columns.inverses[slot as usize];
    for (cell, &value) in sum.iter_mut().zip(pool.vector(slot)) {
        *cell += f32::from(value) * inverse;
    }
}

/// All, or so many of them, evenly spread.
fn sample<T>(all: &[T]) -> impl Iterator<Item = &T> + Clone {
    all.iter().step_by(all.len().div_ceil(SAMPLE).max(1))
}
