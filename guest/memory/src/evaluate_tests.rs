//! Small collections with known answers.

use super::*;

const EMBEDDER: &str = "table";

/// Four documents, and what the questions want of them; one judgement is of a document that is not there.
fn request(rows: &str) -> String {
    format!(
        r#"{{"collections": [{{
            "documents": [
                {{"id": "a", "text": "the ferry leaves at nine", "session": "s", "created_at": "2026-01-01T00:00:00Z"}},
                {{"id": "b", "text": "rent is due on Friday", "session": "s", "created_at": "2026-01-02T00:00:00Z"}},
                {{"id": "c", "text": "the printer is on the third floor", "importance": 9}},
                {{"id": "d", "text": "Rex likes long walks"}}
            ],
            "queries": [
                {{"id": "1", "text": "when does the ferry leave"}},
                {{"id": "2", "text": "printer"}},
                {{"id": "3", "text": "a question that nobody judged"}},
                {{"id": "4", "text": "printer rent"}}
            ],
            "qrels": [
                {{"query": "1", "document": "a", "gain": 1}},
                {{"query": "2", "document": "c", "gain": 1}},
                {{"query": "2", "document": "a", "gain": 0}},
                {{"query": "4", "document": "b", "gain": 1}},
                {{"query": "4", "document": "lost", "gain": 1}}
            ]
        }}], "seed": 7{rows}}}"#
    )
}

fn finish(run: &mut Run, budget_ms: f64) -> (Value, usize) {
    let mut time = 0.0;
    let mut clock = || {
        time += 1.0;
        time
    };
    let mut slices = 1;
    loop {
        match run.advance(None, &mut clock, budget_ms).unwrap() {
            Progress::Done(report) => return (report, slices),
            Progress::More => slices += 1,
            needs => panic!("{needs:?}"),
        }
    }
}

fn row<'a>(report: &'a Value, name: &str) -> &'a Value {
    let rows = report["rows"].as_array().unwrap();
    rows.iter().find(|row| row["row"] == name).unwrap()
}

#[test]
fn a_report_has_every_row_and_its_figures() {
    let (report, _) = finish(&mut Run::start(&request(""), None).unwrap(), 1e9);
    assert_eq!(report["documents"], 4);
    let names: Vec<&str> = report["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["row"].as_str().unwrap())
        .collect();
    assert_eq!(names.len(), 16, "all but the provider's: {names:?}");
    for name in ["lexical", "hybrid", "full", "memory"] {
        let row = row(&report, name);
        assert_eq!(row["queries"], 3, "one was not judged");
        assert_eq!(row["recall"]["5"], 2.5_f32 / 3.0, "{name}: {row}");
        assert_eq!(row["ceiling"]["5"], 1.0, "one judged document is lost");
        assert_eq!(row["ceiling"]["1"], 2.5_f32 / 3.0);
        assert_eq!(row["ms"]["p50"], 1.0, "the clock of this test");
    }
}

/// Two say the same; one is young and dull, the other old and important.
#[test]
fn recency_and_importance_can_be_looked_at_one_by_one() {
    let document = |id: &str, created: &str, importance: f64| json!({"id": id, "text": "the ferry", "created_at": created, "importance": importance});
    let documents = [
        document("old", "2025-01-01T00:00:00Z", 9.0),
        document("young", "2026-01-01T00:00:00Z", 2.0),
    ];
    for (name, first) in [("recency", "young"), ("importance", "old")] {
        let request = json!({
            "collections": [{
                "documents": documents,
                "queries": [{"id": "q", "text": "ferry"}],
                "qrels": [{"query": "q", "document": first, "gain": 1.0}],
            }],
            "rows": [name],
        });
        let (report, _) = finish(&mut Run::start(&request.to_string(), None).unwrap(), 1e9);
        assert_eq!(row(&report, name)["recall"]["1"], 1.0, "{name}");
    }
}

#[test]
fn slices_change_nothing() {
    let (whole, one) = finish(&mut Run::start(&request(""), None).unwrap(), 1e9);
    let (sliced, many) = finish(&mut Run::start(&request(""), None).unwrap(), 0.0);
    assert_eq!((whole, one), (sliced, 1));
    assert!(many > 40, "{many}");
}

#[test]
fn shuffled_documents_keep_their_names() {
    let order = SplitMix(7).shuffled(1000);
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..1000).collect::<Vec<_>>());
    assert_ne!(order, sorted);
    assert_eq!(order, SplitMix(7).shuffled(1000), "the same each time");
    let rows = r#", "rows": ["shuffled"]"#;
    for seed in 0..5 {
        let request = request(rows).replace("\"seed\": 7", &format!("\"seed\": {seed}"));
        let (report, _) = finish(&mut Run::start(&request, None).unwrap(), 1e9);
        assert_eq!(row(&report, "shuffled")["recall"]["5"], 2.5_f32 / 3.0);
    }
}

#[test]
fn the_row_of_a_provider_waits_for_its_vectors() {
    let rows = r#", "rows": ["provider"]"#;
    let mut run = Run::start(&request(rows), Some(EMBEDDER)).unwrap();
    let mut clock = || 0.0;
    let mut given: Option<Given> = None;
    let mut asked = Vec::new();
    let report = loop {
        match run.advance(given.as_ref(), &mut clock, 1e9).unwrap() {
            Progress::Done(report) => break report,
            Progress::More => given = None,
            Progress::Needs { texts, are_queries } => {
                asked.push((texts.len(), are_queries));
                // To this provider everything but Rex is the opposite of what is asked for.
                let vector = |text: &String| match are_queries || text.contains("Rex") {
                    true => vec![1.0, 0.0],
                    false => vec![-1.0, 0.1],
                };
                given = Some(Given::Vectors {
                    embedder: EMBEDDER.to_owned(),
                    vectors: texts.iter().map(vector).collect(),
                });
            }
        }
    };
    assert_eq!(asked, [(4, false), (3, true)]);
    assert_eq!(report["embedder"], EMBEDDER);
    assert!(row(&report, "provider")["recall"]["1"].as_f64().unwrap() < 0.8);

    let mut run = Run::start(&request(rows), Some(EMBEDDER)).unwrap();
    assert!(matches!(
        run.advance(None, &mut clock, 1e9),
        Ok(Progress::Needs { .. })
    ));
    let failed = Given::Failed("connection refused".to_owned());
    let error = run.advance(Some(&failed), &mut clock, 1e9).unwrap_err();
    assert_eq!(error, "the provider: connection refused");
}

#[test]
fn a_request_that_makes_no_sense_is_refused_with_the_reason() {
    let no_collections = r#"{"collections": []"#;
    for (request, reason) in [
        ("{}".to_owned(), "missing field `collections`"),
        (
            request(r#", "rows": ["best"]"#),
            "unknown row \"best\"; known are lexical",
        ),
        (
            request(r#", "rows": ["provider"]"#),
            "no embedder is configured",
        ),
        (request(r#", "k": 0"#), "k must be from 1 to 50, got 0"),
        (request(r#", "depth": 3"#), "unknown field `depth`"),
        (
            request("").replace(r#""id": "b""#, r#""id": "a""#),
            "two documents have the id \"a\"",
        ),
        (
            request("").replace(r#""id": "2""#, r#""id": "1""#),
            "two queries have the id \"1\"",
        ),
        (
            request("").replace(r#""query": "4""#, r#""query": "5""#),
            "names the query \"5\"",
        ),
        (
            request("").replace("2026-01-01T", "yesterday"),
            "created_at of the document \"a\" must be RFC 3339",
        ),
        (
            "x".repeat(crate::config::MAX_EVALUATION_BYTES + 1),
            "at most 33554432 bytes",
        ),
    ] {
        let error = Run::start(&request, None).err().unwrap_or_default();
        assert!(error.contains(reason), "{reason}: {error}");
    }
    let empty = format!("{no_collections}}}");
    let (report, _) = finish(&mut Run::start(&empty, None).unwrap(), 1e9);
    assert_eq!(row(&report, "full")["queries"], 0);
}
