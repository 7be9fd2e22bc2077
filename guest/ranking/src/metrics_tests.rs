//! Figures that were worked out by hand.

use super::*;

fn close(got: f32, expected: f64) {
    assert!((f64::from(got) - expected).abs() < 1e-6, "{got} {expected}");
}

/// Of the ranking 1 2 3 4 5, the documents 2 and 5 are relevant, and 9 which was not found.
fn example() -> ([u32; 5], Relevant) {
    let relevant = Relevant::new([(2, 1.0), (5, 1.0), (9, 1.0), (3, 0.0)]);
    ([1, 2, 3, 4, 5], relevant)
}

#[test]
fn recall_counts_what_was_found_of_what_there_is() {
    let (ranking, relevant) = example();
    close(recall(&ranking, &relevant, 1), 0.0);
    close(recall(&ranking, &relevant, 2), 1.0 / 3.0);
    close(recall(&ranking, &relevant, 5), 2.0 / 3.0);
    close(recall(&ranking, &relevant, 50), 2.0 / 3.0);
}

#[test]
fn the_ceiling_is_what_a_perfect_ranking_gets() {
    let (_, relevant) = example();
    for k in 0..6 {
        let perfect = recall(&[2, 5, 9, 1, 3], &relevant, k);
        close(ceiling(&relevant, k), perfect.into());
    }
}

#[test]
fn precision_counts_what_is_right_of_what_was_given() {
    let (ranking, relevant) = example();
    close(precision(&ranking, &relevant, 2), 0.5);
    close(precision(&ranking, &relevant, 5), 0.4);
    close(precision(&ranking, &relevant, 10), 0.2);
}

#[test]
fn the_reciprocal_rank_is_that_of_the_first_hit() {
    let (ranking, relevant) = example();
    close(reciprocal_rank(&ranking, &relevant), 0.5);
    close(reciprocal_rank(&[7, 8], &relevant), 0.0);
}

#[test]
fn ndcg_discounts_by_the_logarithm_of_the_rank() {
    let (ranking, relevant) = example();
    // Hits at ranks 2 and 5: 1 / log2(3) + 1 / log2(6). The best has ranks 1, 2 and 3: 1 + 1 / log2(3) + 1 / 2.
    close(
        ndcg(&ranking, &relevant, 10),
        (0.630_929_75 + 0.386_852_81) / (1.0 + 0.630_929_75 + 0.5),
    );
    close(ndcg(&[9, 5, 2], &relevant, 10), 1.0);
}

#[test]
fn ndcg_weighs_by_gain() {
    let relevant = Relevant::new([(1, 3.0), (2, 1.0)]);
    // 1 / 1 + 3 / log2(3), of 3 / 1 + 1 / log2(3).
    close(
        ndcg(&[2, 1], &relevant, 10),
        (1.0 + 3.0 * 0.630_929_75) / (3.0 + 0.630_929_75),
    );
}

#[test]
fn the_highest_of_several_gains_counts() {
    let relevant = Relevant::new([(1, 1.0), (1, 3.0), (1, 2.0)]);
    assert_eq!((relevant.len(), relevant.gain(1)), (1, 3.0));
}

#[test]
fn nothing_relevant_is_no_division_by_zero() {
    let none = Relevant::default();
    assert!(none.is_empty());
    for value in [
        recall(&[1], &none, 5),
        precision(&[1], &none, 0),
        ndcg(&[1], &none, 5),
        ceiling(&none, 5),
        mean([]),
    ] {
        assert_eq!(value, 0.0);
    }
    assert_eq!(percentile(&[], 0.5), None);
}

#[test]
fn a_percentile_is_one_of_the_values() {
    let values = [15.0, 20.0, 35.0, 40.0, 50.0];
    for (p, expected) in [
        (0.0, 15.0),
        (0.05, 15.0),
        (0.3, 20.0),
        (0.4, 20.0),
        (0.5, 35.0),
        (0.95, 50.0),
        (1.0, 50.0),
    ] {
        assert_eq!(percentile(&values, p), Some(expected), "{p}");
    }
}
