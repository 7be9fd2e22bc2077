//! BM25: what it is worth that a document has a word of the query.
//!
//! Source: Robertson and Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond* (2009), with the idf that
//! can't become negative: `ln(1 + (N - df + 0.5) / (df + 0.5))`.

/// The two knobs of BM25.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bm25Params {
    /// How soon further occurrences of a term stop counting; 0 means that only presence counts.
    pub k1: f32,
    /// How much long documents are held back: from 0 (not at all) to 1.
    pub b: f32,
}

impl Bm25Params {
    /// What measured best for short texts (conversation turns of some 35 words) with stems and stop words: a low `b`,
    /// since a memory that is longer than the others is not padded, it says more.
    pub const MEMORIES: Self = Self { k1: 0.9, b: 0.4 };

    /// The textbook's, which suit abstracts and longer documents.
    pub const ABSTRACTS: Self = Self { k1: 1.2, b: 0.75 };
}

impl Default for Bm25Params {
    fn default() -> Self {
        Self::MEMORIES
    }
}

/// What a term is worth that stands in so many of all documents. Never negative.
pub(crate) fn idf(documents: usize, frequency: usize) -> f32 {
    let (documents, frequency) = (documents as f32, frequency as f32);
    (1.0 + (documents - frequency + 0.5) / (frequency + 0.5)).ln()
}

/// What counts are worth: `count (k1 + 1) / (count + k1 (1 - b + b length / mean length))`.
pub(crate) struct Saturation {
    k1: f32,
    /// What is added to a count in a document without words, and what each word adds to that.
    norm: f32,
    slope: f32,
}

impl Saturation {
    pub(crate) fn new(params: Bm25Params, mean_length: f32) -> Self {
        Self {
            k1: params.k1,
            norm: params.k1 * (1.0 - params.b),
            slope: params.k1 * params.b / mean_length.max(1.0),
        }
    }

    /// The part of the idf that a document gets which has a term so many times, and so many words.
    #[inline]
    pub(crate) fn part(&self, count: u32, length: u32) -> f32 {
        let (count, length) = (count as f32, length as f32);
        count * (self.k1 + 1.0) / (count + self.norm + self.slope * length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_those_of_the_formula() {
        let expected = 2.0 * 1.9 / (2.0 + 0.9 * (0.6 + 0.4 * 6.0 / 4.0));
        let part = Saturation::new(Bm25Params::MEMORIES, 4.0).part(2, 6);
        assert!((part - expected).abs() < 1e-6, "{part} {expected}");
        assert!((idf(3, 1) - (8.0_f32 / 3.0).ln()).abs() < 1e-6);
    }

    #[test]
    fn a_rare_term_outweighs_a_common_one_and_none_is_worth_less_than_nothing() {
        assert!(idf(4, 1) > idf(4, 3));
        assert!(idf(4, 4) > 0.0);
        let params = Bm25Params { k1: 0.0, b: 0.4 };
        let part = |count| Saturation::new(params, 4.0).part(count, 9);
        assert_eq!(part(1), part(7), "only presence counts");
    }
}
