//! Dot products of one query with many rows of bytes: the loop that a dense search spends its time in.
//!
//! The query has 16 bits a dimension, the rows have 8, the sum has 32, so the result is exact, and the same whatever the
//! loop is made of. There are two: one for WebAssembly with `simd128`, where one instruction multiplies eight pairs and adds
//! them by twos, and one that leaves it to the compiler to find such instructions. [`scalar`] is what both must equal.

use crate::table::DIMENSIONS;

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[path = "scan/simd.rs"]
mod dense;

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
#[path = "scan/portable.rs"]
mod dense;

use dense::dot as dot_lanes;

/// A query that is ready to be compared.
#[derive(Clone, Debug)]
pub struct Probe {
    /// Padded with zeros to whole lanes.
    values: Vec<i16>,
    dimensions: usize,
    /// What a value of 1 stands for, divided by the length of the vector.
    scale: f32,
}

/// The largest value of a probe.
const MAX_VALUE: i16 = 2047;

/// The most dimensions that a sum of 32 bits has room for. Embedders give 4096 at most.
pub const MAX_DIMENSIONS: usize = 8192;

const _: () = assert!(
    MAX_DIMENSIONS as i64 * MAX_VALUE as i64 * -(i8::MIN as i64) <= i32::MAX as i64,
    "a sum of so many products overflows"
);

/// Dimensions that one step of the SIMD loop takes.
const LANES: usize = 16;

impl Probe {
    /// Makes a query of a vector of any length. A vector without a direction gives none.
    pub fn new(vector: &[f32]) -> Option<Self> {
        let largest = vector
            .iter()
            .fold(0.0_f32, |max, value| max.max(value.abs()));
        let finite = vector.iter().all(|value| value.is_finite());
        if !finite || largest <= 0.0 || vector.len() > MAX_DIMENSIONS {
            return None;
        }
        let mut values: Vec<i16> = vector
            .iter()
            .map(|value| (value / largest * f32::from(MAX_VALUE)).round_ties_even() as i16)
            .collect();
        let squares: i64 = values.iter().map(|&value| i64::from(value).pow(2)).sum();
        values.resize(vector.len().next_multiple_of(LANES), 0);
        Some(Self {
            values,
            dimensions: vector.len(),
            scale: 1.0 / (squares as f32).sqrt(),
        })
    }

    /// The cosine with each row. `rows` has a row of this probe's dimensions for each of `inverses`: 1 divided by the
    /// row's length, 0 for a row that says nothing. `out` is overwritten.
    pub fn cosines(&self, rows: &[i8], inverses: &[f32], out: &mut Vec<f32>) {
        out.clear();
        self.append_cosines(rows, inverses, out);
    }

    /// The same, behind what is in `out`.
    pub fn append_cosines(&self, rows: &[i8], inverses: &[f32], out: &mut Vec<f32>) {
        out.reserve(inverses.len());
        // A length that the compiler knows makes a straight line of the loop.
        if let Ok(values) = <&[i16; DIMENSIONS]>::try_from(self.values.as_slice())
            && self.dimensions == DIMENSIONS
        {
            let rows = rows.as_chunks::<DIMENSIONS>().0;
            dense::cosines(values, self.scale, rows, inverses, out);
        } else {
            for (row, &inverse) in rows.chunks_exact(self.dimensions).zip(inverses) {
                out.push(self.dot(row) as f32 * self.scale * inverse);
            }
        }
    }

    /// The cosine with one row.
    pub fn cosine(&self, row: &[i8], inverse: f32) -> f32 {
        self.dot(row) as f32 * self.scale * inverse
    }

    /// The query as it is multiplied: padded with zeros.
    pub fn values(&self) -> &[i16] {
        &self.values
    }

    /// What a dot product is multiplied by, besides the row's own inverse, to be a cosine.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    fn dot(&self, row: &[i8]) -> i32 {
        let whole = row.len() - row.len() % LANES;
        let (head, tail) = row.split_at(whole);
        dot_lanes(&self.values[..whole], head) + scalar(&self.values[whole..], tail)
    }
}

/// The dot product, in the order of the dimensions.
#[inline]
pub fn scalar(query: &[i16], row: &[i8]) -> i32 {
    query
        .iter()
        .zip(row)
        .map(|(&left, &right)| i32::from(left) * i32::from(right))
        .sum()
}

/// Eight bits a dimension: the largest component becomes 127 and the others follow. Returns 1 divided by the length of
/// what was written, or 0 when the vector has no direction, which is written as zeros.
pub fn quantise(vector: &[f32], row: &mut [i8]) -> f32 {
    let largest = vector
        .iter()
        .fold(0.0_f32, |max, value| max.max(value.abs()));
    let finite = vector.iter().all(|value| value.is_finite());
    if !finite || largest <= 0.0 {
        row.fill(0);
        return 0.0;
    }
    for (cell, value) in row.iter_mut().zip(vector) {
        *cell = (value / largest * 127.0).round_ties_even() as i8;
    }
    inverse_length(row)
}

/// 1 divided by the length of a row; 0 for zeros.
pub fn inverse_length(row: &[i8]) -> f32 {
    let squares: i32 = row.iter().map(|&value| i32::from(value).pow(2)).sum();
    if squares == 0 {
        0.0
    } else {
        1.0 / (squares as f32).sqrt()
    }
}

/// Bytes of a file as the signed numbers that they stand for.
pub fn signed(bytes: &[u8]) -> &[i8] {
    #[allow(
        unsafe_code,
        reason = "there is no safe view of unsigned bytes as signed ones"
    )]
    // SAFETY: both types have the same size and alignment and no invalid values, and the lifetime stays.
    unsafe {
        std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len())
    }
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
