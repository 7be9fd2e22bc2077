//! Queries over the listings, and who answers them.
//!
//! Four kinds, told apart by the first letter of their ids:
//!
//! - `t`: one theme in words. Many listings have it.
//! - `p`: two themes in words. Few have both.
//! - `f`: a theme in words and facts in filters. The words say nothing of the facts, so without its filters such a query
//!   finds the theme all over the country.
//! - `o`: next to nothing in words; only the filters tell the right ones.

use ranking::metrics::Relevant;

use super::themes::{CITIES, THEMES};
use super::{Listing, Random};
use crate::corpus::{Corpus, Document, Query};
use crate::fields::FieldValue;
use crate::filter::{Condition, Filter, Operator, Scalar};

const PAIRS: usize = 24;
const FILTERED: usize = 48;
const ONLY_FILTERS: usize = 12;
/// Facts that a query of the kind `f` has in its filters: with fewer it is hardly narrowed, with more it has one answer.
const FACTS: usize = 2;
/// A query that only filters answer has so many answers that it says something, and few enough to be found.
const ONLY_FILTERS_ANSWERS: std::ops::RangeInclusive<usize> = 3..=20;

/// Makes all queries.
pub(super) fn queries(corpus: &Corpus, listings: &[Listing], random: &mut Random) -> Vec<Query> {
    let maker = Maker { corpus, listings };
    let mut queries = Vec::new();
    for (theme, about) in THEMES.iter().enumerate() {
        let wording = about.queries[theme % about.queries.len()];
        queries.push(maker.query(
            format!("t{theme}"),
            wording.to_owned(),
            Vec::new(),
            &[theme],
        ));
    }
    for number in 0..PAIRS {
        let themes = random.pick(listings).themes;
        let [first, second] = themes.map(|theme| random.pick(THEMES[theme].queries));
        let text = format!("{first}, and {second}");
        queries.push(maker.query(format!("p{number}"), text, Vec::new(), &themes));
    }
    for number in 0..FILTERED {
        let position = random.below(listings.len() as u64) as usize;
        let theme = *random.pick(&listings[position].themes);
        let conditions = facts(corpus, position, random);
        let text = (*random.pick(THEMES[theme].queries)).to_owned();
        queries.push(maker.query(format!("f{number}"), text, conditions, &[theme]));
    }
    let mut number = 0;
    while number < ONLY_FILTERS {
        let query = maker.only_filters(format!("o{number}"), random);
        if ONLY_FILTERS_ANSWERS.contains(&query.relevant.len()) {
            queries.push(query);
            number += 1;
        }
    }
    queries
}

struct Maker<'a> {
    corpus: &'a Corpus,
    listings: &'a [Listing],
}

impl Maker<'_> {
    /// A query that is answered by the listings with all of `themes` that pass all of `conditions`.
    fn query(
        &self,
        id: String,
        text: String,
        conditions: Vec<Condition>,
        themes: &[usize],
    ) -> Query {
        // The conditions are made from fields that are there.
        let filter = Filter::of(&conditions, &self.corpus.fields).unwrap_or_default();
        let answers = self.listings.iter().zip(&self.corpus.documents).enumerate();
        let answers = answers.filter(|(_, (listing, document))| {
            themes.iter().all(|theme| listing.themes.contains(theme))
                && filter.admits(&document.values)
        });
        let relevant = Relevant::new(answers.map(|(number, _)| (number as u32, 1.0)));
        Query {
            id,
            text,
            conditions,
            relevant,
        }
    }

    fn only_filters(&self, id: String, random: &mut Random) -> Query {
        let cities = random.choose(CITIES, 2);
        let cheapest = 100_000 + 50_000 * random.below(6);
        let conditions = vec![
            condition(
                "city",
                Operator::In,
                cities
                    .iter()
                    .map(|(city, _)| Scalar::Text((*city).to_owned())),
            ),
            number("price", Operator::Gte, cheapest),
            number("price", Operator::Lte, cheapest + 150_000),
            number("bedrooms", Operator::Eq, 1 + random.below(4)),
        ];
        self.query(id, "a home for sale".to_owned(), conditions, &[])
    }
}

/// Some facts of a listing as filters, so that at least this one passes.
fn facts(corpus: &Corpus, position: usize, random: &mut Random) -> Vec<Condition> {
    let document = &corpus.documents[position];
    let all: Vec<Condition> = [
        text(corpus, document, "city").map(|city| condition("city", Operator::Eq, [city])),
        text(corpus, document, "kind").map(|kind| condition("kind", Operator::Eq, [kind])),
        amount(corpus, document, "price")
            .map(|price| number("price", Operator::Lte, price.div_ceil(25_000) * 25_000)),
        amount(corpus, document, "bedrooms")
            .map(|bedrooms| number("bedrooms", Operator::Gte, bedrooms)),
        amount(corpus, document, "area_m2")
            .map(|area| number("area_m2", Operator::Gte, area / 10 * 10)),
        month(corpus, document)
            .map(|month| condition("listed", Operator::Gte, [Scalar::Text(month)])),
        feature(corpus, document, random)
            .map(|feature| condition("features", Operator::Contains, [Scalar::Text(feature)])),
    ]
    .into_iter()
    .flatten()
    .collect();
    random.choose(&all, FACTS).into_iter().cloned().collect()
}

fn condition(
    field: &str,
    operator: Operator,
    values: impl IntoIterator<Item = Scalar>,
) -> Condition {
    Condition {
        field: field.to_owned(),
        operator,
        values: values.into_iter().collect(),
    }
}

fn number(field: &str, operator: Operator, value: u64) -> Condition {
    condition(field, operator, [Scalar::Number(value as f64)])
}

fn value<'a>(corpus: &Corpus, document: &'a Document, name: &str) -> Option<&'a FieldValue> {
    let position = corpus.fields.iter().position(|field| field.name == name)?;
    document.values[position].as_ref()
}

fn text(corpus: &Corpus, document: &Document, name: &str) -> Option<Scalar> {
    match value(corpus, document, name)? {
        FieldValue::Text(text) => Some(Scalar::Text(text.clone())),
        _ => None,
    }
}

fn amount(corpus: &Corpus, document: &Document, name: &str) -> Option<u64> {
    match value(corpus, document, name)? {
        FieldValue::Number(number) => Some(*number as u64),
        _ => None,
    }
}

/// The month in which it was listed, such as 2025-03.
fn month(corpus: &Corpus, document: &Document) -> Option<String> {
    match value(corpus, document, "listed")? {
        FieldValue::Date(date) => date.text.get(.."2025-03".len()).map(str::to_owned),
        _ => None,
    }
}

fn feature(corpus: &Corpus, document: &Document, random: &mut Random) -> Option<String> {
    match value(corpus, document, "features")? {
        FieldValue::List(features) if !features.is_empty() => Some(random.pick(features).clone()),
        _ => None,
    }
}
