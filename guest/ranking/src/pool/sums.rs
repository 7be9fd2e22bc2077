//! How much more alike neighbours are than memories at random, as sums that grow and shrink.
//!
//! Vectors have length 1 and are written as whole numbers. With `m` the mean of all vectors, what is asked for is the
//! correlation of neighbours: the mean of `(a - m) (b - m)` over all pairs of neighbours `a`, `b`, divided by the mean of
//! `(a - m) (a - m)` over all vectors. It needs no pass over the store, for it follows from the sums of `a`, of `a a`, of
//! `a b` and of `a + b`.

use super::base::Base;
use super::columns::Columns;
use super::tail::Tail;
use crate::scan;
use crate::table::DIMENSIONS;

/// Fewer pairs of neighbours say nothing about a store.
const MIN_PAIRS: i64 = 20;

/// What a component of 1 is written as. The product of two vectors of length 1 stays far below 2^31.
const ONE: f32 = 16_384.0;

/// Documents that differ by less than this do not differ.
const LEAST_VARIANCE: f64 = 1e-6;

/// Numbers of a snapshot.
pub(super) const NUMBERS: usize = 4 + 2 * DIMENSIONS;

/// Where the vectors of documents are.
pub(super) struct Rows<'a> {
    pub(super) columns: &'a Columns,
    pub(super) base: &'a Base,
    pub(super) tail: &'a Tail,
}

impl<'a> Rows<'a> {
    /// The row of a document in the built-in embedding.
    pub(super) fn row(&self, slot: u32) -> &'a [i8] {
        let slot = slot as usize;
        let (rows, slot) = match slot.checked_sub(self.base.documents()) {
            None => (scan::signed(self.base.rows()), slot),
            Some(slot) => (self.tail.rows(), slot),
        };
        &rows[slot * DIMENSIONS..(slot + 1) * DIMENSIONS]
    }

    /// A vector of length 1; none if it has no direction.
    fn unit(&self, slot: u32) -> Option<[i16; DIMENSIONS]> {
        let factor = self.columns.inverses[slot as usize] * ONE;
        let mut unit = [0; DIMENSIONS];
        for (cell, &value) in unit.iter_mut().zip(self.row(slot)) {
            *cell = (f32::from(value) * factor).round_ties_even() as i16;
        }
        (factor > 0.0).then_some(unit)
    }
}

/// The sums. They wrap around, for those of a damaged snapshot may be anything.
pub(super) struct Sums {
    documents: i64,
    vectors: [i64; DIMENSIONS],
    squares: i64,
    pairs: i64,
    products: i64,
    /// Of both vectors of each pair.
    ends: [i64; DIMENSIONS],
}

impl Default for Sums {
    fn default() -> Self {
        Self::from_numbers(&[])
    }
}

impl Sums {
    /// As numbers, for a snapshot.
    pub(super) fn numbers(&self) -> impl Iterator<Item = i64> {
        let single = [self.documents, self.squares, self.pairs, self.products];
        single.into_iter().chain(self.vectors).chain(self.ends)
    }

    /// Made of [`Self::numbers`]; what is missing is 0.
    pub(super) fn from_numbers(numbers: &[i64]) -> Self {
        let number = |at: usize| numbers.get(at).copied().unwrap_or(0);
        Self {
            documents: number(0),
            squares: number(1),
            pairs: number(2),
            products: number(3),
            vectors: std::array::from_fn(|at| number(4 + at)),
            ends: std::array::from_fn(|at| number(4 + DIMENSIONS + at)),
        }
    }

    /// Counts a document (1), or takes it away (-1).
    pub(super) fn add_document(&mut self, rows: &Rows<'_>, slot: u32, sign: i64) {
        if let Some(unit) = rows.unit(slot) {
            self.documents = self.documents.wrapping_add(sign);
            self.squares = self.squares.wrapping_add(sign * product(&unit, &unit));
            add(&mut self.vectors, &unit, sign);
        }
    }

    /// Counts a pair of neighbours (1), or takes it away (-1).
    pub(super) fn add_pair(&mut self, rows: &Rows<'_>, one: u32, other: u32, sign: i64) {
        if let (Some(one), Some(other)) = (rows.unit(one), rows.unit(other)) {
            self.pairs = self.pairs.wrapping_add(sign);
            self.products = self.products.wrapping_add(sign * product(&one, &other));
            add(&mut self.ends, &one, sign);
            add(&mut self.ends, &other, sign);
        }
    }

    /// The correlation of neighbours, less that of two documents at random: 0 where order means nothing or there are too
    /// few pairs, 1 where neighbours are the same.
    pub(super) fn coherence(&self) -> f64 {
        if self.pairs < MIN_PAIRS || self.documents < 2 {
            return 0.0;
        }
        let (documents, pairs) = (self.documents as f64, self.pairs as f64);
        let square = f64::from(ONE) * f64::from(ONE);
        let (mut of_means, mut of_ends) = (0.0, 0.0);
        for (&sum, &ends) in self.vectors.iter().zip(&self.ends) {
            let mean = sum as f64 / documents;
            of_means += mean * mean / square;
            of_ends += mean * (ends as f64 / pairs) / square;
        }
        let variance = self.squares as f64 / documents / square - of_means;
        if variance < LEAST_VARIANCE {
            return 0.0;
        }
        let near = self.products as f64 / pairs / square - of_ends + of_means;
        // Two different documents at random are less alike than chance has it: their sum from the mean is 0.
        near / variance + 1.0 / (documents - 1.0)
    }
}

fn add(sums: &mut [i64; DIMENSIONS], unit: &[i16; DIMENSIONS], sign: i64) {
    for (sum, &value) in sums.iter_mut().zip(unit) {
        *sum = sum.wrapping_add(sign * i64::from(value));
    }
}

fn product(one: &[i16; DIMENSIONS], other: &[i16; DIMENSIONS]) -> i64 {
    let products = one.iter().zip(other);
    let sum = products.fold(0_i32, |sum, (&left, &right)| {
        sum.wrapping_add(i32::from(left) * i32::from(right))
    });
    sum.into()
}
