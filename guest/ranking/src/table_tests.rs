//! Vectors are those of the reference, and the same everywhere.

use super::*;
use crate::scan;

/// Texts and the beginnings of their vectors, from the script that fitted the table: eight components, and sixteen of eight
/// bits.
const REFERENCE: [(&str, [f32; 8], [i8; 16]); 6] = [
    (
        "the StarcallOS demo is on June 20",
        [
            -0.063878, -0.059395, 0.091971, -0.09892, 0.32431, -0.084626, 0.206593, 0.02298,
        ],
        [
            -25, -23, 36, -38, 125, -33, 80, 9, 22, -1, -1, -19, 21, -15, -2, 5,
        ],
    ),
    (
        "I prefer dark mode",
        [
            0.166854, 0.115434, 0.00235, -0.067387, -0.072468, 0.268371, -0.008591, -0.119034,
        ],
        [
            48, 33, 1, -19, -21, 77, -2, -34, 21, -21, -50, -33, 13, -35, 72, 22,
        ],
    ),
    (
        "Caroline: I went to a LGBTQ support group yesterday and it was so powerful.",
        [
            0.250852, -0.039767, 0.158257, -0.352488, 0.13459, -0.082021, 0.04579, -0.062337,
        ],
        [
            67, -11, 43, -95, 36, -22, 12, -17, -21, 2, 2, 26, 0, -7, -26, 23,
        ],
    ),
    (
        "format commit messages in imperative mood",
        [
            0.347917, 0.124659, -0.07312, 0.128512, 0.037007, 0.211367, 0.127196, -0.080532,
        ],
        [
            117, 42, -25, 43, 12, 71, 43, -27, -127, -57, 16, 30, 76, -20, 46, -45,
        ],
    ),
    (
        "naïve café – 東京 😀",
        [
            0.044294, 0.129487, -0.151721, -0.197145, 0.163086, 0.278037, 0.11851, -0.070083,
        ],
        [
            19, 54, -63, -82, 68, 116, 50, -29, 90, -127, -52, -43, 63, -11, 86, -49,
        ],
    ),
    (
        "when is the demo?",
        [
            0.352528, -0.127024, -0.055407, -0.033913, 0.206087, -0.196151, 0.249433, 0.254444,
        ],
        [
            126, -45, -20, -12, 74, -70, 89, 91, 36, 23, 46, -9, -6, 39, 16, 13,
        ],
    ),
];

#[test]
fn vectors_are_those_of_the_reference() {
    for (text, first, small) in REFERENCE {
        let vector = embed(text);
        for (got, expected) in vector.iter().zip(first) {
            assert!((got - expected).abs() < 2e-6, "{text:?}: {got} {expected}");
        }
        let mut row = [0; DIMENSIONS];
        scan::quantise(&vector, &mut row);
        assert_eq!(row[..16], small, "{text:?}");
    }
}

#[test]
fn an_empty_text_has_the_zero_vector() {
    assert_eq!(embed(" \n"), [0.0; DIMENSIONS]);
}

/// The other half of this test runs in the sandbox: the number is the same there.
#[test]
fn vectors_are_the_same_to_the_last_bit() {
    assert_eq!(
        checksum(REFERENCE.map(|(text, ..)| text)),
        4_254_309_345_308_198_805
    );
}
