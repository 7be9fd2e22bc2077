//! The fast loop and the plain one agree, and a cosine is one.

use super::*;
use proptest::prelude::*;

#[test]
fn the_cosine_of_a_vector_with_itself_is_one() {
    let vector: Vec<f32> = (0..64_i16).map(|at| f32::from(at % 7 - 3)).collect();
    let mut row = [0; 64];
    let inverse = quantise(&vector, &mut row);
    let cosine = Probe::new(&vector).unwrap().cosine(&row, inverse);
    assert!((cosine - 1.0).abs() < 1e-4, "{cosine}");
}

#[test]
fn what_has_no_direction_gives_no_probe_and_a_row_of_zeros() {
    for vector in [&[][..], &[0.0, -0.0], &[f32::NAN, 1.0], &[f32::INFINITY]] {
        assert!(Probe::new(vector).is_none(), "{vector:?}");
        let mut row = vec![1; vector.len()];
        assert_eq!(quantise(vector, &mut row), 0.0);
        assert!(row.iter().all(|&cell| cell == 0));
    }
}

#[test]
fn the_largest_sum_does_not_overflow() {
    let probe = Probe::new(&vec![1.0; MAX_DIMENSIONS]).unwrap();
    let row = vec![i8::MIN; MAX_DIMENSIONS];
    let cosine = probe.cosine(&row, inverse_length(&row));
    assert!((cosine + 1.0).abs() < 1e-3, "{cosine}");
    assert!(Probe::new(&vec![1.0; MAX_DIMENSIONS + 1]).is_none());
}

proptest! {
    /// For any number of dimensions, whole lanes or not.
    #[test]
    fn a_scan_is_the_textbook_cosine(
        rows in prop::collection::vec(prop::collection::vec(-127_i8..=127, 37), 1..9),
        query in prop::collection::vec(-1.0_f32..1.0, 37),
        dimensions in 1_usize..=37,
    ) {
        let query = &query[..dimensions];
        prop_assume!(query.iter().any(|value| value.abs() > 0.1));
        let flat: Vec<i8> = rows.iter().flat_map(|row| &row[..dimensions]).copied().collect();
        let inverses: Vec<f32> = flat.chunks_exact(dimensions).map(inverse_length).collect();
        let mut cosines = Vec::new();
        Probe::new(query).unwrap().cosines(&flat, &inverses, &mut cosines);
        for (row, cosine) in flat.chunks_exact(dimensions).zip(cosines) {
            let length = |values: &mut dyn Iterator<Item = f64>| values.map(|x| x * x).sum::<f64>().sqrt();
            let dot: f64 = row.iter().zip(query).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
            let lengths = length(&mut row.iter().map(|&a| f64::from(a)))
                * length(&mut query.iter().map(|&b| f64::from(b)));
            let expected = if lengths > 0.0 { dot / lengths } else { 0.0 };
            prop_assert!((f64::from(cosine) - expected).abs() < 2e-3, "{} {}", cosine, expected);
        }
    }
}
