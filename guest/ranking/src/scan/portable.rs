//! The loop in plain Rust.

use super::{DIMENSIONS, scalar};

pub(super) use super::scalar as dot;

/// Appends the cosine with each row.
pub(super) fn cosines(
    query: &[i16; DIMENSIONS],
    scale: f32,
    rows: &[[i8; DIMENSIONS]],
    inverses: &[f32],
    out: &mut Vec<f32>,
) {
    for (row, inverse) in rows.iter().zip(inverses) {
        out.push(scalar(query, row) as f32 * scale * inverse);
    }
}
