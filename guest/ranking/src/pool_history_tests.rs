//! That the history of a pool does not show, and that no text and no damage harms it.

use std::collections::BTreeMap;

use super::tests::*;
use super::*;
use crate::answer::Query;
use crate::recipe::Recipe;
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Made {
    text: String,
    extra: String,
    session: Option<String>,
    created: Option<i64>,
    vector: Option<[i8; 3]>,
}

fn made() -> impl Strategy<Value = Made> {
    (
        "((Ann|Bob): )?[a-d]{1,3}( (running|runs|dog|puppy|yesterday|[a-d]{1,2}|c\\+\\+|東京都)){0,6}\\??",
        "[a-c ]{0,4}",
        prop::option::of("[xy]"),
        prop::option::of(1_688_000_000_i64..1_688_100_000),
        prop::option::of([-9_i8..9, 1..9, -9..9]),
    )
        .prop_map(|(text, extra, session, created, vector)| Made { text, extra, session, created, vector })
}

fn put(pool: &mut Pool, doc: u32, made: &Made) {
    let document = Document {
        text: &made.text,
        extra: &made.extra,
        session: made.session.as_deref(),
        created: made.created,
    };
    pool.insert(doc, &document);
    if let Some(vector) = &made.vector {
        pool.set_vector(doc, "mine", Vector::I8(vector)).unwrap();
    }
}

#[derive(Clone, Debug)]
enum Step {
    Put(u32, Made),
    Remove(u32),
    Reload,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0_u32..60, made()).prop_map(|(doc, made)| Step::Put(doc, made)),
        3 => (0_u32..60).prop_map(Step::Remove),
        1 => Just(Step::Reload),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever was inserted, replaced, removed and reloaded before, a pool answers as one that was built afresh, and has
    /// the same snapshot.
    #[test]
    fn history_does_not_matter(
        steps in prop::collection::vec(step(), 0..120),
        query in "(Ann |when |July )?(running|dogs|bobb|[a-d]{1,3}|東京)( [a-d]{1,2})?",
    ) {
        let mut pool = Pool::default();
        let mut model = BTreeMap::new();
        for step in steps {
            match step {
                Step::Put(doc, made) => {
                    put(&mut pool, doc, &made);
                    model.insert(doc, made);
                }
                Step::Remove(doc) => prop_assert_eq!(pool.remove(doc), model.remove(&doc).is_some()),
                Step::Reload => pool = Pool::decode(pool.encode()).unwrap(),
            }
        }
        let mut fresh = Pool::default();
        for (doc, made) in &model {
            put(&mut fresh, *doc, made);
        }
        prop_assert_eq!(pool.len(), model.len());
        let given = Query { text: &query, vector: Some(("mine", Vector::F32(&[0.3, 1.0, -0.2]))) };
        for recipe in [Recipe::LEXICAL, Recipe::HYBRID, Recipe::FULL] {
            for query in [Query::from(query.as_str()), given] {
                prop_assert_eq!(
                    pool.search(&query, &recipe, 20, |_| true),
                    fresh.search(&query, &recipe, 20, |_| true)
                );
            }
        }
        prop_assert!(pool.encode() == fresh.encode(), "snapshots differ");
    }

    #[test]
    fn no_text_panics(text in any::<String>(), query in any::<String>(), label in any::<String>()) {
        let mut pool = Pool::default();
        for (doc, text) in [&text, &query, &format!("{label}: {text}")].into_iter().enumerate() {
            let document = Document { text, extra: &label, session: Some(&label), created: Some(doc as i64) };
            pool.insert(doc as u32, &document);
        }
        for recipe in [Recipe::LEXICAL, Recipe::DENSE, Recipe::FULL] {
            search(&pool, &query, &recipe);
        }
        let loaded = Pool::decode(pool.encode()).unwrap();
        prop_assert_eq!(search(&pool, &query, &Recipe::FULL), search(&loaded, &query, &Recipe::FULL));
    }

    /// A changed byte gives an error or wrong answers, and neither a panic nor an endless loop.
    #[test]
    fn a_damaged_snapshot_does_no_harm(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let mut pool = talk();
        pool.set_vector(3, "mine", Vector::I8(&[1, 2, 3])).unwrap();
        let mut bytes = pool.encode();
        // Most of a snapshot are vectors; offsets are where damage can do harm.
        let vectors = 4_000;
        for (index, byte) in changes {
            let at = index.index(bytes.len().min(2 * vectors));
            let end = bytes.len() - 1;
            bytes[if at < vectors { at } else { end - (at - vectors) }] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(mut loaded) = Pool::decode(bytes) {
            for query in ["voyage", "Bob puppies", "voyagge in July"] {
                search(&loaded, query, &Recipe::FULL);
            }
            let given = Query { text: "x", vector: Some(("mine", Vector::I8(&[1, 2, 3]))) };
            loaded.search(&given, &Recipe::FULL, 5, |_| true);
            loaded.insert(3, &"new".into());
            loaded.remove(5);
            loaded.encode();
        }
    }
}

#[test]
fn what_is_no_snapshot_says_so() {
    let snapshot = pool(&["alpha"]).encode();
    let error = |bytes: &[u8]| {
        Pool::decode(bytes.to_vec())
            .err()
            .map(|error| error.to_string())
    };
    assert_eq!(
        error(b""),
        Some("the bytes are no snapshot of an index".to_owned())
    );
    let mut newer = snapshot.clone();
    newer[8] = 9;
    assert_eq!(
        error(&newer),
        Some("the snapshot has format 9, not 4".to_owned())
    );
    for end in 16..snapshot.len() {
        assert!(
            error(&snapshot[..end]).is_some(),
            "{end} of {} bytes",
            snapshot.len()
        );
    }
    let mut longer = snapshot.clone();
    longer.push(0);
    assert_eq!(
        error(&longer),
        Some("the snapshot is damaged: head".to_owned())
    );
    assert_eq!(error(&snapshot), None);
}
