//! The loop in the instructions of WebAssembly's `simd128`.

use core::arch::wasm32::{
    f32x4_convert_i32x4, f32x4_mul, f32x4_splat, i16x8_extend_high_i8x16, i16x8_extend_low_i8x16,
    i16x8_load_extend_i8x8, i32x4_add, i32x4_dot_i16x8, i32x4_extract_lane, i32x4_shuffle,
    i32x4_splat, v128, v128_load, v128_store,
};

use std::hint::black_box;

use super::{DIMENSIONS, LANES};

/// Dimensions that one instruction takes.
const STEP: usize = 8;

/// Rows that are taken together: the sums of four make one vector of cosines.
const ROWS: usize = 4;

/// A row is multiplied in so many parts. What comes of this code reads all that it will need of memory before it computes,
/// up to the next write to memory; so the sums of a part are written there before the next is read, or registers run out.
const HALVES: usize = 2;

/// The dot product, sixteen dimensions at a time; what is left over at the end is not counted.
#[allow(
    unsafe_code,
    reason = "the instructions that read memory take pointers"
)]
#[inline]
pub(super) fn dot(query: &[i16], row: &[i8]) -> i32 {
    let mut sum = i32x4_splat(0);
    for (values, bytes) in query.chunks_exact(LANES).zip(row.chunks_exact(LANES)) {
        // SAFETY: each chunk has LANES elements, that is 16 bytes of `bytes` and twice 16 of `values`; the load takes any
        // alignment.
        let (low, high, bytes) = unsafe {
            (
                v128_load(values.as_ptr().cast()),
                v128_load(values.as_ptr().add(LANES / 2).cast()),
                v128_load(bytes.as_ptr().cast()),
            )
        };
        sum = i32x4_add(sum, i32x4_dot_i16x8(low, i16x8_extend_low_i8x16(bytes)));
        sum = i32x4_add(sum, i32x4_dot_i16x8(high, i16x8_extend_high_i8x16(bytes)));
    }
    i32x4_extract_lane::<0>(sum)
        + i32x4_extract_lane::<1>(sum)
        + i32x4_extract_lane::<2>(sum)
        + i32x4_extract_lane::<3>(sum)
}

/// Appends the cosine with each row.
pub(super) fn cosines(
    query: &[i16; DIMENSIONS],
    scale: f32,
    rows: &[[i8; DIMENSIONS]],
    inverses: &[f32],
    out: &mut Vec<f32>,
) {
    let count = rows.len().min(inverses.len());
    let start = out.len();
    out.resize(start + count, 0.0);
    let (blocks, rest) = rows[..count].as_chunks::<ROWS>();
    let (block_inverses, rest_inverses) = inverses[..count].as_chunks::<ROWS>();
    let (block_out, rest_out) = out[start..].as_chunks_mut::<ROWS>();
    let mut sums = [[[0.0; ROWS]; HALVES]; ROWS];
    for ((block, inverses), out) in blocks.iter().zip(block_inverses).zip(block_out) {
        let query = Query::new(black_box(query));
        for (row, sums) in block.iter().zip(&mut sums) {
            query.sums(row, sums);
        }
        let sums = black_box(&sums).each_ref();
        let sums = sums.map(|[first, second]| i32x4_add(load(first), load(second)));
        let dots = f32x4_convert_i32x4(add_across(sums));
        let scaled = f32x4_mul(dots, f32x4_splat(scale));
        store(out, f32x4_mul(scaled, load(inverses)));
    }
    for ((row, inverse), out) in rest.iter().zip(rest_inverses).zip(rest_out) {
        *out = dot(query, row) as f32 * scale * inverse;
    }
}

#[allow(
    unsafe_code,
    reason = "the instructions that read memory take pointers"
)]
#[inline]
fn load(values: &[f32; ROWS]) -> v128 {
    // SAFETY: there are the 16 bytes that are read, at any alignment.
    unsafe { v128_load(values.as_ptr().cast()) }
}

#[allow(
    unsafe_code,
    reason = "the instructions that write memory take pointers"
)]
#[inline]
fn store(values: &mut [f32; ROWS], vector: v128) {
    // SAFETY: there are the 16 bytes that are written, at any alignment.
    unsafe { v128_store(values.as_mut_ptr().cast(), vector) }
}

/// A query in registers.
struct Query([[v128; DIMENSIONS / STEP / HALVES]; HALVES]);

impl Query {
    #[allow(
        unsafe_code,
        reason = "the instructions that read memory take pointers"
    )]
    #[inline]
    fn new(query: &[i16; DIMENSIONS]) -> Self {
        let (steps, _) = query.as_chunks::<STEP>();
        let (halves, _) = steps.as_chunks();
        // SAFETY: each step has 8 elements of 16 bits; the load takes any alignment.
        let load = |step: &[i16; STEP]| unsafe { v128_load(step.as_ptr().cast()) };
        Self(std::array::from_fn(|half| {
            let half: &[_; DIMENSIONS / STEP / HALVES] = &halves[half];
            half.each_ref().map(load)
        }))
    }

    /// For each half of a row four sums; all make the dot product together.
    #[allow(
        unsafe_code,
        reason = "the instructions that read memory take pointers"
    )]
    #[inline]
    fn sums(&self, row: &[i8; DIMENSIONS], sums: &mut [[f32; ROWS]; HALVES]) {
        let (steps, _) = row.as_chunks::<STEP>();
        let halves = steps.chunks_exact(steps.len() / HALVES);
        for ((values, half), sums) in self.0.iter().zip(halves).zip(sums) {
            let mut sum = i32x4_splat(0);
            for (&values, bytes) in values.iter().zip(half) {
                // SAFETY: each step has the 8 bytes that are read, at any alignment.
                let bytes = unsafe { i16x8_load_extend_i8x8(bytes.as_ptr()) };
                // In this order it is the row's register that is overwritten.
                sum = i32x4_add(sum, i32x4_dot_i16x8(bytes, values));
            }
            store(sums, sum);
        }
    }
}

/// The sum of the lanes of each of four vectors.
#[inline]
fn add_across([a, b, c, d]: [v128; ROWS]) -> v128 {
    let pairs = |left: v128, right: v128| {
        i32x4_add(
            i32x4_shuffle::<0, 2, 4, 6>(left, right),
            i32x4_shuffle::<1, 3, 5, 7>(left, right),
        )
    };
    pairs(pairs(a, b), pairs(c, d))
}
