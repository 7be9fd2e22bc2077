//! The signals of one query, an array each, and what they add up to.

use super::columns::{ENDS_IN_A_QUESTION, NAMES_A_TIME};
use super::lexical::Lexical;
use super::{Columns, Pool, Sittings};
use crate::answer::Parts;
use crate::cues;
use crate::dates::Asked;
use crate::recipe::{Recipe, Smoothing};

/// A label is one when it stands on so many documents; `Note: ` on a single one is a way of writing.
const MIN_LABELLED: u32 = 3;

/// Cosines that lie closer together than this are not stretched any further: in a store of a few memories their
/// differences are chance.
const LEAST_SPREAD: f32 = 0.25;

/// Everything that a score is made of, by slot.
pub(super) struct Signals<'a> {
    columns: &'a Columns,
    recipe: &'a Recipe,
    lexical: Vec<f32>,
    dense: Vec<f32>,
    neighbours: Vec<f32>,
    sitting: Vec<f32>,
    asked: Option<Asked>,
    asks_for_a_time: bool,
    /// Whether each label was named.
    named: Vec<bool>,
}

impl<'a> Signals<'a> {
    pub(super) fn new(
        pool: &'a Pool,
        sittings: &Sittings,
        recipe: &'a Recipe,
        query: &str,
        lexical: &Lexical,
        cosines: Vec<f32>,
    ) -> Self {
        let slots = pool.columns.len();
        let mut words = lexical.scores.clone();
        for (score, soft) in words.iter_mut().zip(&lexical.soft) {
            *score += recipe.soft * soft;
        }
        let mut signals = Self {
            columns: &pool.columns,
            recipe,
            lexical: words,
            dense: cosines,
            neighbours: Vec::new(),
            sitting: Vec::new(),
            asked: (recipe.date != 0.0).then(|| Asked::of(query)).flatten(),
            asks_for_a_time: recipe.when != 0.0 && cues::asks_for_a_time(query),
            named: named_labels(pool, sittings, recipe, query),
        };
        // Words that all say alike are worth what they are worth to each: the least is a document that says none.
        let range = (0.0, greatest(&signals.lexical, &sittings.order));
        spread(&mut signals.lexical, range, 1.0 - recipe.dense);
        signals.dense.resize(slots, 0.0);
        let most = greatest(&signals.dense, &sittings.order);
        let least = least(&signals.dense, &sittings.order);
        let range = (least, most.max(least + LEAST_SPREAD));
        spread(&mut signals.dense, range, recipe.dense);
        if recipe.smoothing.is_on() && sittings.gate > 0.0 {
            signals.smooth(sittings, &recipe.smoothing);
        }
        signals
    }

    /// What neighbours and sittings hand on.
    fn smooth(&mut self, sittings: &Sittings, weights: &Smoothing) {
        let slots = self.columns.len();
        let gate = sittings.gate;
        let base: Vec<f32> = self
            .lexical
            .iter()
            .zip(&self.dense)
            .map(|(lexical, dense)| lexical + dense)
            .collect();
        let squares = sittings
            .order
            .iter()
            .map(|&slot| base[slot as usize].powi(2));
        let mean = squares.sum::<f32>() / (sittings.order.len() as f32).max(1.0);
        self.neighbours = vec![0.0; slots];
        self.sitting = vec![0.0; slots];
        let mut told = Vec::new();
        for members in sittings.each() {
            told.clear();
            told.extend(
                members
                    .iter()
                    .map(|&slot| base[slot as usize].powi(2) - mean),
            );
            let best = members
                .iter()
                .fold(0.0_f32, |best, &slot| best.max(base[slot as usize]));
            for (at, &slot) in members.iter().enumerate() {
                let before = weights.before.iter().enumerate().map(|(by, weight)| {
                    at.checked_sub(by + 1)
                        .map_or(0.0, |other| weight * told[other])
                });
                let after =
                    weights.after.iter().enumerate().map(|(by, weight)| {
                        told.get(at + by + 1).map_or(0.0, |other| weight * other)
                    });
                let sum: f32 = before.chain(after).sum();
                self.neighbours[slot as usize] = gate * sum;
                self.sitting[slot as usize] = gate * weights.sitting * best;
            }
        }
    }

    /// What each signal gives a document, weights included.
    pub(super) fn parts(&self, slot: u32) -> Parts {
        let at = slot as usize;
        let cues = self.columns.cues[at];
        let weight = |weight: f32, applies: bool| if applies { weight } else { 0.0 };
        let named = self.named.get(self.columns.labels[at] as usize);
        Parts {
            lexical: self.lexical[at],
            dense: self.dense[at],
            neighbours: self.neighbours.get(at).copied().unwrap_or(0.0),
            sitting: self.sitting.get(at).copied().unwrap_or(0.0),
            date: self.asked.as_ref().map_or(0.0, |asked| {
                let fits = self.columns.days(slot).map(|day| asked.fit(day));
                self.recipe.date * fits.fold(0.0, f32::max)
            }),
            label: weight(self.recipe.label, named == Some(&true)),
            when: weight(
                self.recipe.when,
                self.asks_for_a_time && cues & NAMES_A_TIME != 0,
            ),
            question: weight(-self.recipe.question, cues & ENDS_IN_A_QUESTION != 0),
        }
    }
}

/// Stretches values that lie in a range over 0 to `width`.
fn spread(values: &mut [f32], (least, most): (f32, f32), width: f32) {
    let factor = width / (most - least).max(1e-9);
    values
        .iter_mut()
        .for_each(|value| *value = (*value - least) * factor);
}

/// The greatest value of a living slot.
fn greatest(values: &[f32], order: &[u32]) -> f32 {
    let living = order.iter().map(|&slot| values[slot as usize]);
    living.fold(0.0, f32::max)
}

/// The least value of a living slot.
fn least(values: &[f32], order: &[u32]) -> f32 {
    let living = order.iter().map(|&slot| values[slot as usize]);
    living.reduce(f32::min).unwrap_or(0.0)
}

/// Which labels the query names, by any of their words.
fn named_labels(pool: &Pool, sittings: &Sittings, recipe: &Recipe, query: &str) -> Vec<bool> {
    if recipe.label == 0.0 {
        return Vec::new();
    }
    let asked: Vec<String> = label_words(query).collect();
    sittings
        .label_counts
        .iter()
        .enumerate()
        .map(|(label, &count)| {
            count >= MIN_LABELLED
                && label_words(pool.labels.get(label as u32)).any(|word| asked.contains(&word))
        })
        .collect()
}

fn label_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}
