//! The loop in the instructions of WebAssembly's `simd128`.

use core::arch::wasm32::{
    f32x4_convert_i32x4, f32x4_mul, f32x4_splat, i16x8_extend_high_i8x16, i16x8_extend_low_i8x16,
    i16x8_load_extend_i8x8, i32x4_add, i32x4_dot_i16x8, i32x4_extract_lane, i32x4_shuffle,
    i32x4_splat, v128, v128_load, v128_store,
};

use super::{DIMENSIONS, LANES};

/// Dimensions that one instruction takes.
const STEP: usize = 8;

/// Rows that are taken together: the sums of four make one vector of cosines.
const ROWS: usize = 4;

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
    let query = Query::new(query);
    let count = rows.len().min(inverses.len());
    let start = out.len();
    out.resize(start + count, 0.0);
    let (blocks, rest) = rows[..count].as_chunks::<ROWS>();
    let (block_inverses, rest_inverses) = inverses[..count].as_chunks::<ROWS>();
    let (block_out, rest_out) = out[start..].as_chunks_mut::<ROWS>();
    for ((block, inverses), out) in blocks.iter().zip(block_inverses).zip(block_out) {
        let [a, b, c, d] = block;
        let sums = [query.sums(a), query.sums(b), query.sums(c), query.sums(d)];
        let dots = f32x4_convert_i32x4(add_across(sums));
        let scaled = f32x4_mul(dots, f32x4_splat(scale));
        store(out, f32x4_mul(scaled, load(inverses)));
    }
    for ((row, inverse), out) in rest.iter().zip(rest_inverses).zip(rest_out) {
        let dot = i32x4_extract_lane::<0>(add_across([query.sums(row); ROWS]));
        *out = dot as f32 * scale * inverse;
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
struct Query([v128; DIMENSIONS / STEP]);

impl Query {
    #[allow(
        unsafe_code,
        reason = "the instructions that read memory take pointers"
    )]
    fn new(query: &[i16; DIMENSIONS]) -> Self {
        // SAFETY: each chunk has 8 elements of 16 bits; the load takes any alignment.
        let load = |step: usize| unsafe { v128_load(query[step * STEP..][..STEP].as_ptr().cast()) };
        Self(std::array::from_fn(load))
    }

    /// Four sums that make the dot product together.
    #[allow(
        unsafe_code,
        reason = "the instructions that read memory take pointers"
    )]
    #[inline]
    fn sums(&self, row: &[i8; DIMENSIONS]) -> v128 {
        let mut sum = i32x4_splat(0);
        for (step, values) in self.0.iter().enumerate() {
            // SAFETY: each chunk has the 8 bytes that are read, at any alignment.
            let bytes = unsafe { i16x8_load_extend_i8x8(row[step * STEP..][..STEP].as_ptr()) };
            sum = i32x4_add(sum, i32x4_dot_i16x8(*values, bytes));
        }
        sum
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
