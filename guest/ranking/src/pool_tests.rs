//! What a pool finds.

use super::*;
use crate::answer::{Found, Query, Verdict};
use crate::recipe::{Recipe, Smoothing};

pub(super) fn pool(texts: &[&str]) -> Pool {
    let mut pool = Pool::default();
    for (doc, text) in texts.iter().enumerate() {
        pool.insert(doc as u32, &(*text).into());
    }
    pool
}

pub(super) fn search(pool: &Pool, query: &str, recipe: &Recipe) -> Found {
    pool.search(&query.into(), recipe, 5, |_| true)
}

pub(super) fn docs(found: &Found) -> Vec<u32> {
    found.hits.iter().map(|hit| hit.doc).collect()
}

#[test]
fn what_shares_nothing_with_the_query_is_no_hit() {
    let pool = pool(&["the StarcallOS demo is on June 20", "I prefer dark mode"]);
    let kangaroo = search(&pool, "kangaroo", &Recipe::FULL);
    assert_eq!(
        (docs(&kangaroo), kangaroo.verdict),
        (vec![], Verdict::Nothing)
    );
    let demo = search(&pool, "demo", &Recipe::FULL);
    assert_eq!((docs(&demo), demo.verdict), (vec![0], Verdict::Found));
}

#[test]
fn an_empty_pool_finds_nothing() {
    for query in ["", "word", "?!", "the"] {
        for recipe in [Recipe::LEXICAL, Recipe::DENSE, Recipe::FULL] {
            let found = search(&Pool::default(), query, &recipe);
            assert_eq!((docs(&found), found.verdict), (vec![], Verdict::Nothing));
        }
    }
}

#[test]
fn the_lexical_part_is_bm25() {
    let pool = pool(&["red red car", "blue car", "green house far away"]);
    // N 3, mean length 3; k1 .9, b .4.
    let score = |frequency: f32, count: f32, length: f32| {
        let idf = (1.0 + (3.0 - frequency + 0.5) / (frequency + 0.5)).ln();
        idf * count * 1.9 / (count + 0.9 * (0.6 + 0.4 * length / 3.0))
    };
    let words = pool.analyzer.query_words("red car");
    let found = pool.lexical(&words, &Recipe::LEXICAL, false);
    let expected = [
        score(1.0, 2.0, 3.0) + score(2.0, 1.0, 3.0),
        score(2.0, 1.0, 2.0),
        0.0,
    ];
    for (score, expected) in found.scores.iter().zip(expected) {
        assert!((score - expected).abs() < 1e-5, "{score} {expected}");
    }
    assert_eq!(docs(&search(&pool, "red car", &Recipe::LEXICAL)), [0, 1]);
    assert_eq!(docs(&search(&pool, "houses", &Recipe::LEXICAL)), [2]);
}

#[test]
fn of_equals_the_newer_comes_first() {
    let pool = pool(&["same words", "same words", "same words"]);
    assert_eq!(docs(&search(&pool, "words", &Recipe::LEXICAL)), [2, 1, 0]);
}

#[test]
fn identifiers_that_look_alike_are_not_taken_for_each_other() {
    let pool = pool(&["ticket abc1234 is late", "the meeting is on monday"]);
    let soft = Recipe {
        soft: 0.5,
        ..Recipe::LEXICAL
    };
    assert_eq!(docs(&search(&pool, "abc1234", &soft)), [0]);
    let lexical = pool.lexical(&pool.analyzer.query_words("abc1235"), &soft, false);
    assert_eq!(lexical.scores, [0.0, 0.0]);
}

#[test]
fn a_text_that_alone_has_an_identifier_comes_before_all_that_are_like_it() {
    let long = format!("text 33 word33\n{}", "harbour violet engine ".repeat(20));
    let mut texts = vec![long];
    texts.extend((100..900).map(|at| format!("text {at} word{at}")));
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let pool = pool(&texts);
    for query in ["word33", "which is word33?", "33"] {
        let found = pool.search(&query.into(), &Recipe::FULL, 1, |_| true);
        assert_eq!(docs(&found), [0], "{query}");
    }
}

#[test]
fn a_like_word_counts_when_the_word_itself_is_missing() {
    let pool = pool(&[
        "my dog is brown",
        "the meeting is on monday",
        "the tax form is blue",
    ]);
    let soft = Recipe {
        soft: 0.5,
        ..Recipe::LEXICAL
    };
    assert_eq!(docs(&search(&pool, "puppy", &Recipe::LEXICAL)), [0_u32; 0]);
    assert_eq!(docs(&search(&pool, "puppy", &soft)), [0]);
}

#[test]
fn a_mistyped_word_is_taken_for_the_nearest() {
    let pool = pool(&[
        "the kubernetes cluster",
        "a gardener with roses",
        "plain words",
    ]);
    let found = search(&pool, "kuberntes", &Recipe::FULL);
    assert_eq!(docs(&found), [0]);
    assert_eq!(
        found.corrections,
        [("kuberntes".to_owned(), "kubernetes".to_owned())]
    );
    let right = search(&pool, "garden", &Recipe::FULL);
    assert_eq!(
        right.corrections,
        [],
        "a word that English knows is not corrected"
    );
}

#[test]
fn a_removed_word_is_no_correction() {
    let mut pool = pool(&["the kubernetes cluster", "plain words"]);
    pool.compact();
    pool.remove(0);
    assert_eq!(search(&pool, "kuberntes", &Recipe::FULL).corrections, []);
}

#[test]
fn extra_words_match_and_add_no_length() {
    let mut pool = pool(&["plain words", "plain words"]);
    pool.insert(
        2,
        &Document {
            text: "plain words",
            extra: "work urgent",
            ..Document::default()
        },
    );
    assert_eq!(docs(&search(&pool, "urgent", &Recipe::FULL)), [2]);
    let hits = search(&pool, "plain", &Recipe::LEXICAL).hits;
    assert!(
        hits.iter().all(|hit| hit.score == hits[0].score),
        "{hits:?}"
    );
}

/// What is talked about, and an answer that doesn't name it.
const TOPICS: [(&str, &str); 13] = [
    ("guitar", "six strings and a loud amplifier"),
    ("kitchen", "new oven, sink and cupboards"),
    ("voyage", "we sailed by ship across the ocean"),
    ("exam", "I passed with the best grade in class"),
    ("garden", "roses and tulips in every bed"),
    ("novel", "a story of four hundred pages"),
    ("bicycle", "two wheels and strong brakes"),
    ("painting", "oil on canvas in bright colours"),
    ("marathon", "I ran for four hours"),
    ("concert", "the orchestra played a symphony"),
    ("recipe", "flour, butter and sugar"),
    ("camera", "the lens takes sharp pictures"),
    ("island", "beaches and palm trees"),
];

/// A conversation: answers follow their questions.
pub(super) fn talk() -> Pool {
    talk_that_opens_with("")
}

/// The same, with these at the end of what is said first.
fn talk_that_opens_with(mark: &str) -> Pool {
    let mut pool = Pool::default();
    for (session, (topic, detail)) in TOPICS.iter().enumerate() {
        let lines = [
            format!("Ann: tell me about the {topic}{mark}"),
            format!("Bob: the {topic} was a joy"),
            format!("Bob: {detail}"),
        ];
        for (line, text) in lines.iter().enumerate() {
            let name = format!("s{session}");
            let document = Document {
                text,
                extra: "",
                session: Some(&name),
                created: Some(1_688_731_200 + 86_400 * session as i64 + line as i64),
            };
            pool.insert((3 * session + line) as u32, &document);
        }
    }
    pool
}

#[test]
fn what_was_saved_beside_a_hit_is_found_with_it() {
    let pool = talk();
    let found = pool.search(&"voyage".into(), &Recipe::FULL, 50, |_| true);
    let answer = found.hits.iter().find(|hit| hit.doc == 8);
    let parts = answer.expect("the line after").parts;
    assert!(parts.neighbours > 0.0 && parts.sitting > 0.0, "{parts:?}");
    let alone = Recipe {
        smoothing: Smoothing::OFF,
        ..Recipe::FULL
    };
    let found = pool.search(&"voyage".into(), &alone, 50, |_| true);
    let mut lone = found.hits.iter().map(|hit| hit.parts);
    assert!(lone.all(|parts| parts.neighbours == 0.0 && parts.sitting == 0.0));
}

#[test]
fn what_follows_a_question_gets_more_of_it() {
    let unaware = Recipe {
        smoothing: Smoothing {
            answers: 0.0,
            ..Smoothing::ON
        },
        ..Recipe::FULL
    };
    let handed = |mark, recipe| {
        let found = talk_that_opens_with(mark).search(&"voyage".into(), recipe, 50, |_| true);
        let reply = found.hits.into_iter().find(|hit| hit.doc == 7);
        reply.expect("the line after").parts.neighbours
    };
    assert!(handed("?", &Recipe::FULL) > handed("?", &unaware));
    assert!(handed("", &Recipe::FULL) < handed("", &unaware));
}

#[test]
fn neighbours_mean_nothing_in_a_store_without_order() {
    let mut pool = Pool::default();
    let mut random = 1_u64;
    for doc in 0..400 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let (text, _) = TOPICS[(random >> 33) as usize % TOPICS.len()];
        pool.insert(
            doc,
            &Document {
                text,
                session: Some("one"),
                ..Document::default()
            },
        );
    }
    assert!(pool.sittings.gate() < 0.5, "{}", pool.sittings.gate());
    assert!(talk().sittings.gate() > 0.9, "{}", talk().sittings.gate());
}

#[test]
fn a_long_gap_ends_a_sitting() {
    let mut pool = Pool::default();
    for (doc, created) in [0, 60, 120, 120 + 5 * 3600].into_iter().enumerate() {
        let document = Document {
            text: "x",
            session: Some("one"),
            created: Some(created),
            extra: "",
        };
        pool.insert(doc as u32, &document);
    }
    let sittings = |pool: &Pool| {
        pool.sittings
            .each()
            .map(<[u32]>::to_vec)
            .collect::<Vec<_>>()
    };
    assert_eq!(sittings(&pool), [&[0, 1, 2][..], &[3]]);
    assert_eq!(
        sittings(&Pool::decode(pool.encode()).unwrap()),
        sittings(&pool)
    );
    pool.remove(1);
    assert_eq!(sittings(&pool), [&[0, 2][..], &[3]]);
}

#[test]
fn who_speaks_and_when_decide_between_equals() {
    let pool = talk();
    let named = search(&pool, "what did Bob say of the novel", &Recipe::FULL);
    assert_eq!(named.hits[0].doc, 16);
    assert!(named.hits[0].parts.label > 0.0, "{:?}", named.hits[0]);
    let dated = search(&pool, "Bob's joy on July 9", &Recipe::FULL);
    assert_eq!(dated.hits[0].doc, 7);
    assert!(dated.hits[0].parts.date > 0.0, "{:?}", dated.hits[0]);
}

#[test]
fn the_parts_add_up_to_the_score() {
    for hit in search(&talk(), "when was the garden in July?", &Recipe::FULL).hits {
        assert!((hit.parts.sum() - hit.score).abs() < 1e-6);
    }
}

#[test]
fn a_filter_changes_who_is_found_and_not_the_order() {
    let pool = talk();
    let odd = pool.search(&"joy".into(), &Recipe::FULL, 50, |doc| doc % 2 == 1);
    let all = pool.search(&"joy".into(), &Recipe::FULL, 50, |_| true);
    let expected: Vec<u32> = docs(&all).into_iter().filter(|doc| doc % 2 == 1).collect();
    assert_eq!(docs(&odd), expected);
    let none = pool.search(&"joy".into(), &Recipe::FULL, 50, |_| false);
    assert_eq!((docs(&none), none.verdict), (vec![], Verdict::Nothing));
    assert_eq!(
        docs(&pool.search(&"joy".into(), &Recipe::FULL, 0, |_| true)),
        [0_u32; 0]
    );
}

#[test]
fn given_vectors_take_the_place_of_the_built_in_ones() {
    let mut pool = pool(&["alpha", "beta", "gamma"]);
    pool.set_vector(0, "mine", Vector::F32(&[1.0, 0.0, 0.0]))
        .unwrap();
    pool.set_vector(1, "mine", Vector::I8(&[0, 5, 0])).unwrap();
    assert_eq!(pool.without_vector("mine"), [2]);
    let query = Query {
        text: "zeta",
        vector: Some(("mine", Vector::F32(&[0.1, 1.0, 0.0]))),
    };
    for pool in [&pool, &Pool::decode(pool.encode()).unwrap()] {
        let found = pool.search(&query, &Recipe::FULL, 1, |_| true);
        assert_eq!(
            (docs(&found), found.verdict),
            (vec![1], Verdict::LowConfidence)
        );
        assert_eq!(pool.without_vector("mine"), [2]);
    }
    pool.insert(1, &"beta again".into());
    assert_eq!(pool.without_vector("mine"), [1, 2]);
}

#[test]
fn vectors_of_an_embedder_go_when_two_others_have_come() {
    let mut pool = pool(&["alpha"]);
    for embedder in ["first", "second", "third"] {
        pool.set_vector(0, embedder, Vector::F32(&[1.0, 2.0]))
            .unwrap();
    }
    for pool in [&pool, &Pool::decode(pool.encode()).unwrap()] {
        let missing = ["first", "second", "third"].map(|name| pool.without_vector(name).len());
        assert_eq!(missing, [1, 0, 0]);
    }
}

#[test]
fn a_vector_that_does_not_fit_is_refused_by_name() {
    let mut pool = pool(&["alpha"]);
    pool.set_vector(0, "mine", Vector::F32(&[1.0, 2.0]))
        .unwrap();
    for (doc, vector, message) in [
        (7, Vector::F32(&[1.0, 2.0]), "no document has the number 7"),
        (
            0,
            Vector::F32(&[1.0]),
            "the vector has 1 dimensions, those of \"mine\" have 2",
        ),
        (
            0,
            Vector::I8(&[]),
            "the vector has 0 dimensions, not 1 to 8192",
        ),
        (
            0,
            Vector::F32(&[f32::NAN, 1.0]),
            "the vector has no direction: it is zero, or a component is no finite number",
        ),
    ] {
        let error = pool.set_vector(doc, "mine", vector).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

/// Blocks of documents are passed over that can't be among the best: of each signal the most has to be reckoned with.
#[test]
fn the_best_few_are_the_first_of_all() {
    // Each alone, and sittings that are longer than a block.
    for apart in [8 * 60 * 60, 60] {
        the_best_few_are_the_first_of_all_of(apart);
    }
}

/// Six hundred memories, so many seconds apart.
fn the_best_few_are_the_first_of_all_of(apart: i64) {
    let mut pool = Pool::default();
    for doc in 0..600_u32 {
        // From 1 January 2026 on, over half a year or ten hours, in sessions of sixty.
        let created = 1_767_225_600 + i64::from(doc) * apart;
        let subject = ["the ferry", "a horse", "the budget", "my guitar"][doc as usize % 4];
        let text = format!("Ann: {subject} number {doc}{}", ["", "?"][doc as usize % 2]);
        let session = format!("session {}", doc / 60);
        let document = Document {
            session: (doc % 7 != 0).then_some(session.as_str()),
            created: Some(created),
            ..text.as_str().into()
        };
        pool.insert(doc, &document);
    }
    for query in [
        "what about the ferry on 20 May 2026?",
        "the horse in March 2026",
        "When did Ann buy a guitar?",
        "the budget",
    ] {
        let all = pool
            .search(&query.into(), &Recipe::FULL, 600, |_| true)
            .hits;
        for k in [1, 5, 20, 100] {
            let few = pool.search(&query.into(), &Recipe::FULL, k, |_| true).hits;
            let expected = &all[..k.min(all.len())];
            assert_eq!(few, expected, "{k} for {query:?}, {apart} s apart");
        }
    }
}
