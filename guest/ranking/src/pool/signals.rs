//! The signals of one query, an array each, and what they add up to.

use std::ops::Range;

use super::{Columns, Pool, Sittings};
use crate::answer::Parts;
use crate::cues;
use crate::dates::{Asked, BEST_FIT};
use crate::recipe::{Recipe, Smoothing};

/// A label is one when it stands on so many documents; `Note: ` on a single one is a way of writing.
const MIN_LABELLED: u32 = 3;

/// Cosines that lie closer together than this are not stretched any further: in a store of a few memories their
/// differences are chance.
const LEAST_SPREAD: f32 = 0.25;

/// Sums of the same numbers in another order differ by less than this.
const ROUNDING: f32 = 1e-4;

/// Numbers that are added, or compared, side by side: what a processor does at once.
const LANES: usize = 8;

/// Documents that are passed over together.
const CHUNK: usize = 8 * LANES;

/// Everything that a score is made of, by slot.
pub(super) struct Signals<'a> {
    columns: &'a Columns,
    recipe: &'a Recipe,
    lexical: Spread,
    /// None when vectors play no role.
    dense: Option<Spread>,
    /// The sum of both.
    base: Vec<f32>,
    /// How much neighbours count, from 0 to 1.
    gate: f32,
    /// The mean of the squares of `base`; 0 when neighbours play no role.
    mean_square: f32,
    limits: Limits,
    asked: Option<Asked>,
    asks_for_a_time: bool,
    /// Whether each label was named; empty when none was.
    named: Vec<bool>,
}

/// What bounds a score.
struct Limits {
    /// The sums of the weights of neighbours that are above 0, and of those below.
    gained: f32,
    lost: f32,
    /// The weight of the best of the sitting, if it is above 0.
    sitting: f32,
    /// The most that what has nothing to do with words or vectors adds.
    beside: f32,
}

/// What others hand on to a document.
#[derive(Clone, Copy, Default)]
pub(super) struct Handed {
    pub(super) neighbours: f32,
    sitting: f32,
}

impl<'a> Signals<'a> {
    /// `words` is what the words of the query are worth to each slot, `cosines` what its vector is; the latter is empty
    /// when vectors play no role.
    pub(super) fn new(
        pool: &'a Pool,
        recipe: &'a Recipe,
        query: &str,
        words: Vec<f32>,
        cosines: Vec<f32>,
    ) -> Self {
        let sittings = &pool.sittings;
        let lexical = Spread::of_words(words, sittings, 1.0 - recipe.dense);
        let dense =
            (!cosines.is_empty()).then(|| Spread::of_cosines(cosines, sittings, recipe.dense));
        let base: Vec<f32> = match &dense {
            Some(dense) => lexical
                .all()
                .zip(dense.all())
                .map(|(lexical, dense)| lexical + dense)
                .collect(),
            None => lexical.all().collect(),
        };
        let gate = if recipe.smoothing.is_on() {
            sittings.gate()
        } else {
            0.0
        };
        let mean_square = if gate > 0.0 {
            mean_square(&base, sittings)
        } else {
            0.0
        };
        let asked = (recipe.date != 0.0).then(|| Asked::of(query)).flatten();
        let asks_for_a_time = recipe.when != 0.0 && cues::asks_for_a_time(query);
        let named = named_labels(pool, recipe, query);
        let beside = [
            (recipe.date * BEST_FIT, asked.is_some()),
            (recipe.label, !named.is_empty()),
            (recipe.when, asks_for_a_time),
            (-recipe.question, true),
        ];
        let beside = beside.map(|(most, applies)| weight(most.max(0.0), applies));
        Self {
            columns: &pool.columns,
            recipe,
            lexical,
            dense,
            base,
            gate,
            mean_square,
            limits: Limits::new(&recipe.smoothing, beside.iter().sum()),
            asked,
            asks_for_a_time,
            named,
        }
    }

    /// Whether neighbours hand anything on.
    pub(super) fn smooths(&self) -> bool {
        self.gate > 0.0
    }

    /// What each member of a sitting that is in a range gets from the others.
    pub(super) fn handed(
        &self,
        members: &[u32],
        range: Range<usize>,
        best: f32,
    ) -> impl Iterator<Item = (u32, Handed)> {
        let smoothing = &self.recipe.smoothing;
        let Smoothing {
            before,
            after,
            sitting,
            ..
        } = smoothing;
        let told = |at: usize| {
            members
                .get(at)
                .map_or(0.0, |&slot| self.base(slot).powi(2) - self.mean_square)
        };
        let sitting = self.gate * sitting * best;
        range.map(move |at| {
            let nearest = at.checked_sub(1).map_or(0.0, |at| {
                let is_question = self.columns.ends_in_a_question(members[at] as usize);
                told(at) * smoothing.from_nearest(is_question)
            });
            let earlier = before.iter().enumerate().skip(1).map(|(places, weight)| {
                let told = at.checked_sub(places + 1).map_or(0.0, told);
                told * weight
            });
            let later = after.iter().enumerate();
            let later = later.map(|(places, weight)| told(at + places + 1) * weight);
            let neighbours = self.gate * (nearest + earlier.chain(later).sum::<f32>());
            (
                members[at],
                Handed {
                    neighbours,
                    sitting,
                },
            )
        })
    }

    /// What a document gets that sits alone.
    pub(super) fn handed_by_itself(&self, slot: u32) -> Handed {
        Handed {
            neighbours: 0.0,
            sitting: self.gate * self.recipe.smoothing.sitting * more(self.base(slot), 0.0),
        }
    }

    /// The sum of the lexical and the dense part.
    #[inline]
    pub(super) fn base(&self, slot: u32) -> f32 {
        self.base[slot as usize]
    }

    /// The same of all slots, the dead included, in chunks that begin at a slot.
    pub(super) fn bases(&self) -> impl Iterator<Item = (u32, &[f32])> {
        let chunks = self.base.chunks(CHUNK).enumerate();
        chunks.map(|(index, chunk)| ((index * CHUNK) as u32, chunk))
    }

    /// The most of it that any of these has; 0 if there are none.
    pub(super) fn best_base(&self, slots: &[u32]) -> f32 {
        let bases = slots.iter().map(|&slot| self.base(slot));
        bases.fold(0.0, more)
    }

    /// More than the score of any document can be that has no more than `own` of the base, whose neighbours have no more
    /// than `near`, and whose sitting no more than `best`.
    pub(super) fn ceiling(&self, own: f32, near: f32, best: f32) -> f32 {
        let Limits {
            gained,
            lost,
            sitting,
            beside,
        } = self.limits;
        let told = more(near * near - self.mean_square, 0.0);
        let handed = gained * told - lost * self.mean_square + sitting * best;
        own + self.gate * handed + beside + ROUNDING
    }

    /// No more than the base of any document that sits alone and has this score or a higher one.
    pub(super) fn least_own(&self, score: f32) -> f32 {
        let least = score - self.limits.beside - ROUNDING;
        if least > 0.0 {
            least / (1.0 + self.gate * self.limits.sitting)
        } else {
            least
        }
    }

    /// What each signal gives a document, weights included.
    pub(super) fn parts(&self, slot: u32, handed: Handed) -> Parts {
        let at = slot as usize;
        Parts {
            lexical: self.lexical.at(at),
            dense: self.dense.as_ref().map_or(0.0, |dense| dense.at(at)),
            neighbours: handed.neighbours,
            sitting: handed.sitting,
            date: self.date(slot),
            label: self.label(at),
            when: self.when(at),
            question: self.question(at),
        }
    }

    /// The sum of the parts, to the last bit, without taking them apart.
    pub(super) fn score(&self, slot: u32, handed: Handed) -> f32 {
        let at = slot as usize;
        let score = self.base[at] + handed.neighbours + handed.sitting;
        score + self.date(slot) + self.label(at) + self.when(at) + self.question(at)
    }

    /// Whether a document has a word of the query, or one like it.
    pub(super) fn has_words(&self, slot: u32) -> bool {
        self.lexical.values[slot as usize] > 0.0
    }

    /// The cosine of a document with the query, when vectors play a role.
    pub(super) fn cosine(&self, slot: u32) -> Option<f32> {
        self.dense.as_ref().map(|dense| dense.values[slot as usize])
    }

    /// What the time that was named gives a document.
    pub(super) fn date(&self, slot: u32) -> f32 {
        self.asked.as_ref().map_or(0.0, |asked| {
            let fits = self.columns.days(slot).map(|day| asked.fit(day));
            self.recipe.date * fits.fold(0.0, f32::max)
        })
    }

    fn label(&self, at: usize) -> f32 {
        // Of most queries: no look at the columns.
        if self.named.is_empty() {
            return 0.0;
        }
        let named = self.named.get(self.columns.labels[at] as usize);
        weight(self.recipe.label, named == Some(&true))
    }

    fn when(&self, at: usize) -> f32 {
        let applies = self.asks_for_a_time && self.columns.names_a_time(at);
        weight(self.recipe.when, applies)
    }

    fn question(&self, at: usize) -> f32 {
        weight(-self.recipe.question, self.columns.ends_in_a_question(at))
    }
}

impl Limits {
    fn new(smoothing: &Smoothing, beside: f32) -> Self {
        let nearest = [true, false].map(|is_question| smoothing.from_nearest(is_question));
        let weights = || smoothing.before[1..].iter().chain(&smoothing.after);
        let gained = weights().map(|weight| weight.max(0.0)).sum::<f32>();
        let lost = weights().map(|weight| weight.min(0.0)).sum::<f32>();
        Self {
            gained: gained + nearest.into_iter().fold(0.0, f32::max),
            lost: lost + nearest.into_iter().fold(0.0, f32::min),
            sitting: smoothing.sitting.max(0.0),
            beside,
        }
    }
}

fn weight(weight: f32, applies: bool) -> f32 {
    if applies { weight } else { 0.0 }
}

/// Values of slots, of which the living are stretched over 0 to a width.
struct Spread {
    values: Vec<f32>,
    least: f32,
    factor: f32,
}

impl Spread {
    /// Words that all say alike are worth what they are worth to each: the least is a document that says none.
    fn of_words(values: Vec<f32>, sittings: &Sittings, width: f32) -> Self {
        let (_, most) = Self::living(&values, sittings);
        Self::over((0.0, most), values, width)
    }

    fn of_cosines(values: Vec<f32>, sittings: &Sittings, width: f32) -> Self {
        let (least, most) = Self::living(&values, sittings);
        Self::over((least, most.max(least + LEAST_SPREAD)), values, width)
    }

    /// The bounds of the living.
    fn living(values: &[f32], sittings: &Sittings) -> (f32, f32) {
        if sittings.order.len() == values.len() {
            bounds(values)
        } else {
            let living = sittings.order.iter().map(|&slot| values[slot as usize]);
            living.fold(EMPTY, widen)
        }
    }

    fn over((least, most): (f32, f32), values: Vec<f32>, width: f32) -> Self {
        Self {
            factor: width / (most - least).max(1e-9),
            values,
            least,
        }
    }

    fn at(&self, slot: usize) -> f32 {
        (self.values[slot] - self.least) * self.factor
    }

    fn all(&self) -> impl Iterator<Item = f32> {
        let stretch = |value: &f32| (value - self.least) * self.factor;
        self.values.iter().map(stretch)
    }
}

/// The bounds of nothing.
const EMPTY: (f32, f32) = (f32::INFINITY, f32::NEG_INFINITY);

fn widen((least, most): (f32, f32), value: f32) -> (f32, f32) {
    let least = if value < least { value } else { least };
    (least, more(most, value))
}

/// The greater of two numbers. Unlike `f32::max`, which minds what is not a number, this is one instruction of
/// WebAssembly and not a call.
#[inline]
pub(super) fn more(one: f32, other: f32) -> f32 {
    if other > one { other } else { one }
}

/// The least and the most of some values.
pub(super) fn bounds(values: &[f32]) -> (f32, f32) {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut least = [EMPTY.0; LANES];
    let mut most = [EMPTY.1; LANES];
    for chunk in chunks {
        for lane in 0..LANES {
            (least[lane], most[lane]) = widen((least[lane], most[lane]), chunk[lane]);
        }
    }
    let widened = |bounds, values: &[f32]| {
        let values = values.iter();
        values.fold(bounds, |bounds, &value| widen(bounds, value))
    };
    // Lanes that nothing was put into are not values.
    if chunks.is_empty() {
        return widened(EMPTY, rest);
    }
    widened(widened(widened(EMPTY, &least), &most), rest)
}

/// The mean of the squares of the living. The order of additions is that of the documents and depends on nothing else.
fn mean_square(base: &[f32], sittings: &Sittings) -> f32 {
    let order = &sittings.order;
    let sum = if sittings.are_all() {
        sum_of_squares(base, |value| *value)
    } else {
        sum_of_squares(order, |&slot| base[slot as usize])
    };
    sum / (order.len() as f32).max(1.0)
}

fn sum_of_squares<T>(items: &[T], value: impl Fn(&T) -> f32) -> f32 {
    let (chunks, rest) = items.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for chunk in chunks {
        for (lane, item) in lanes.iter_mut().zip(chunk) {
            *lane += value(item).powi(2);
        }
    }
    let rest = rest.iter().map(|item| value(item).powi(2));
    lanes.into_iter().chain(rest).sum()
}

/// Which labels the query names, by any of their words; nothing if it names none.
fn named_labels(pool: &Pool, recipe: &Recipe, query: &str) -> Vec<bool> {
    if recipe.label == 0.0 {
        return Vec::new();
    }
    let asked: Vec<String> = label_words(query).collect();
    let mut named: Vec<bool> = Vec::new();
    for (label, &count) in pool.sittings.label_counts.iter().enumerate() {
        let is_named = count >= MIN_LABELLED
            && label_words(pool.labels.get(label as u32)).any(|word| asked.contains(&word));
        if is_named {
            named.resize(label, false);
            named.push(true);
        }
    }
    named
}

fn label_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}
