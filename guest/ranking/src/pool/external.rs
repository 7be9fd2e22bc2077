//! Vectors that others made: a user's own embedding model, behind a name.

use std::collections::HashMap;
use std::ops::Range;

use super::base::Base;
use super::sections::{Reader, SnapshotError};
use crate::answer::{Vector, VectorError};
use crate::scan::{self, Probe};

/// No embedder has more dimensions, and a dot product of so many stays in its bounds.
const MAX_DIMENSIONS: usize = scan::MAX_DIMENSIONS;

/// The vectors of so many embedders are kept: of the one that is used, and of the one before, which who only tried another
/// goes back to. A hundred thousand vectors are a hundred megabytes and more.
pub(super) const MAX_EMBEDDERS: usize = 2;

/// The vectors of one embedder.
pub(super) struct External {
    name: String,
    dimensions: usize,
    /// Where the rows of the base lie in the snapshot, a document each; those without one are zeros.
    base: Range<usize>,
    base_inverses: Vec<f32>,
    /// What was given since: its place by slot.
    places: HashMap<u32, usize>,
    rows: Vec<i8>,
    inverses: Vec<f32>,
}

impl External {
    pub(super) fn new(name: &str, dimensions: usize) -> Self {
        Self {
            name: name.to_owned(),
            dimensions,
            base: 0..0,
            base_inverses: Vec::new(),
            places: HashMap::new(),
            rows: Vec::new(),
            inverses: Vec::new(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Refuses another number of dimensions.
    pub(super) fn check(&self, dimensions: usize) -> Result<(), VectorError> {
        if dimensions == self.dimensions {
            return Ok(());
        }
        Err(VectorError::Mismatch {
            embedder: self.name.clone(),
            got: dimensions,
            expected: self.dimensions,
        })
    }

    /// Keeps the row of a document.
    pub(super) fn set(&mut self, slot: u32, row: &[i8], inverse: f32) {
        let place = *self.places.entry(slot).or_insert(self.inverses.len());
        let start = place * self.dimensions;
        if place == self.inverses.len() {
            self.rows.extend_from_slice(row);
            self.inverses.push(inverse);
        } else {
            self.rows[start..start + self.dimensions].copy_from_slice(row);
            self.inverses[place] = inverse;
        }
    }

    /// Whether a document has a row.
    pub(super) fn has(&self, slot: u32) -> bool {
        self.places.contains_key(&slot)
            || self
                .base_inverses
                .get(slot as usize)
                .is_some_and(|&inverse| inverse > 0.0)
    }

    /// The row of a document, and 1 divided by its length: zeros and 0 without one.
    pub(super) fn get<'a>(&'a self, slot: u32, base: &'a Base) -> (&'a [i8], f32) {
        if let Some(&place) = self.places.get(&slot) {
            let start = place * self.dimensions;
            return (
                &self.rows[start..start + self.dimensions],
                self.inverses[place],
            );
        }
        let Some(&inverse) = self.base_inverses.get(slot as usize) else {
            return (&[], 0.0);
        };
        let start = self.base.start + slot as usize * self.dimensions;
        let row = base.bytes(start..start + self.dimensions);
        (scan::signed(row), inverse)
    }

    /// The cosine with each slot; not a number for those that have no vector.
    pub(super) fn cosines(&self, probe: &Probe, base: &Base, slots: usize) -> Vec<f32> {
        let mut cosines = Vec::with_capacity(slots);
        let rows = scan::signed(base.bytes(self.base.clone()));
        probe.cosines(rows, &self.base_inverses, &mut cosines);
        for (cosine, &inverse) in cosines.iter_mut().zip(&self.base_inverses) {
            if inverse == 0.0 {
                *cosine = f32::NAN;
            }
        }
        cosines.resize(slots, f32::NAN);
        for (&slot, &place) in &self.places {
            let start = place * self.dimensions;
            let row = &self.rows[start..start + self.dimensions];
            cosines[slot as usize] = probe.cosine(row, self.inverses[place]);
        }
        cosines
    }

    /// Takes the spaces off a snapshot.
    pub(super) fn read(
        reader: &mut Reader<'_>,
        documents: usize,
    ) -> Result<Vec<Self>, SnapshotError> {
        let names = reader.strings("embedders")?;
        if names.len() > MAX_EMBEDDERS {
            return Err(SnapshotError::Damaged {
                section: "embedders",
            });
        }
        let sizes = reader.u32s("dimensions", names.len())?;
        let mut spaces: Vec<Self> = Vec::with_capacity(names.len());
        for (name, dimensions) in names.iter().zip(sizes) {
            let dimensions = dimensions as usize;
            let again = spaces.iter().any(|space| space.name() == name);
            if again || !(1..=MAX_DIMENSIONS).contains(&dimensions) {
                return Err(SnapshotError::Damaged {
                    section: "dimensions",
                });
            }
            let mut space = Self::new(name, dimensions);
            space.base_inverses = reader.inverses("lengths of given vectors", documents)?;
            space.base = reader.range("given vectors", dimensions, documents)?;
            spaces.push(space);
        }
        Ok(spaces)
    }
}

/// Gives slots without a cosine the mean of the living that have one: nothing is known of them.
pub(super) fn fill_unknown(cosines: &mut [f32], order: &[u32]) {
    let known = || {
        order
            .iter()
            .map(|&slot| cosines[slot as usize])
            .filter(|cosine| !cosine.is_nan())
    };
    let mean = known().sum::<f32>() / (known().count() as f32).max(1.0);
    for cosine in cosines {
        if cosine.is_nan() {
            *cosine = mean;
        }
    }
}

/// A vector as it is kept, and 1 divided by its length.
pub(super) fn row(vector: Vector<'_>) -> Result<(Vec<i8>, f32), VectorError> {
    let dimensions = vector.dimensions();
    if !(1..=MAX_DIMENSIONS).contains(&dimensions) {
        return Err(VectorError::Dimensions {
            got: dimensions,
            max: MAX_DIMENSIONS,
        });
    }
    let mut row = vec![0; dimensions];
    let inverse = match vector {
        Vector::F32(values) => scan::quantise(values, &mut row),
        Vector::I8(values) => {
            row.copy_from_slice(values);
            scan::inverse_length(&row)
        }
    };
    if inverse > 0.0 {
        Ok((row, inverse))
    } else {
        Err(VectorError::NoDirection)
    }
}

/// A query's vector, ready to be compared.
pub(super) fn probe(vector: Vector<'_>) -> Option<Probe> {
    match vector {
        Vector::F32(values) => Probe::new(values),
        Vector::I8(values) => {
            let values: Vec<f32> = values.iter().map(|&value| f32::from(value)).collect();
            Probe::new(&values)
        }
    }
}
