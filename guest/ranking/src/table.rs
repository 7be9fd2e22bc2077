//! The built-in embedding: a static vector for each wordpiece, whose sum is the vector of a text.
//!
//! The table was fitted so that the sum predicts what a sentence transformer (all-MiniLM-L6-v2) says of the text. It knows
//! no word order and fits in 2 MB, which lie in the binary and are read where they are: nothing is loaded. `data/README.md`
//! has the origin and the licences.
//!
//! The same text gives the same bits everywhere: rows are added in the order of the text, and every operation is one that
//! IEEE 754 defines exactly.

use crate::wordpiece::{self, COUNT, UNKNOWN};

/// The dimensions of the built-in embedding.
pub const DIMENSIONS: usize = 64;

static ROWS: &[u8] = include_bytes!("../data/rows.i8");
static SCALES: &[u8] = include_bytes!("../data/scales.f32");

// The three files belong together.
const _: () = assert!(ROWS.len() == COUNT * DIMENSIONS && SCALES.len() == COUNT * 4);

/// A sum of rows; not of length 1.
pub type Sum = [f32; DIMENSIONS];

/// Adds the rows of a text, times a weight. Returns whether each of its words is made of known pieces.
pub fn add(text: &str, weight: f32, sum: &mut Sum) -> bool {
    let mut known = true;
    wordpiece::pieces(text, |piece| {
        known &= piece != UNKNOWN;
        add_row(piece.into(), weight, sum);
    });
    known
}

fn add_row(piece: usize, weight: f32, sum: &mut Sum) {
    let scale: [u8; 4] = std::array::from_fn(|byte| SCALES[4 * piece + byte]);
    let factor = f32::from_le_bytes(scale) * weight;
    let row = &ROWS[piece * DIMENSIONS..(piece + 1) * DIMENSIONS];
    for (cell, &value) in sum.iter_mut().zip(row) {
        *cell += f32::from(value as i8) * factor;
    }
}

/// The vector of a text, of length 1; zero when the text is empty.
///
/// ```
/// let vector = ranking::table::embed("dark mode");
/// let length: f32 = vector.iter().map(|x| x * x).sum();
/// assert!((length - 1.0).abs() < 1e-5);
/// ```
pub fn embed(text: &str) -> Sum {
    let mut sum = [0.0; DIMENSIONS];
    add(text, 1.0, &mut sum);
    let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        sum.iter_mut().for_each(|value| *value /= length);
    }
    sum
}

/// A number that stands for the vectors of some texts, to the last bit: equal wherever embedding is right.
pub fn checksum<'a>(texts: impl IntoIterator<Item = &'a str>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for value in texts.into_iter().flat_map(embed) {
        for byte in value.to_bits().to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    hash
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
