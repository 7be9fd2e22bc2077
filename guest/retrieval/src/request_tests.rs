//! What the host may tell, and what is made of it.

use super::*;
use std::cell::Cell;

#[test]
fn directories_become_corpora_and_repositories_by_their_names() {
    let environment = read_environment(
        r#"{"settings":{},"directories":[
            {"name":"cache","readOnly":false},{"name":"corpus-scifact","readOnly":true},{"name":"repo-a-b","readOnly":true},{"name":"corpus-x"}],"later":1}"#,
    )
    .unwrap();
    let names = |granted: &[Granted]| -> Vec<String> {
        granted.iter().map(|granted| granted.name.clone()).collect()
    };
    assert_eq!(names(&environment.corpora), ["scifact", "x"]);
    assert_eq!(names(&environment.repositories), ["a-b"]);
    assert_eq!(
        environment.corpora[0].path,
        PathBuf::from("/corpus-scifact")
    );
    assert_eq!(environment.cache, Some(PathBuf::from("/cache")));
    assert_eq!(environment.unused, [""; 0]);
}

#[test]
fn what_means_nothing_is_told_and_does_not_stop_the_start() {
    let environment = read_environment(
        r#"{"directories":[{"name":"data"},{"name":"corpus-"},{"name":"corpus-listings"},{"name":"cache","readOnly":true}]}"#,
    )
    .unwrap();
    assert_eq!(environment.corpora, []);
    assert_eq!(environment.cache, None);
    assert_eq!(environment.unused.len(), 4, "{:?}", environment.unused);
    assert!(environment.unused[2].contains("built-in"));
}

#[test]
fn what_is_malformed_or_unknown_is_refused() {
    for (environment, word) in [
        ("", "malformed"),
        ("[]", "object"),
        (r#"{"settings":1}"#, "settings"),
        (r#"{"settings":{"x":"y"}}"#, "\"x\""),
        (r#"{"directories":{}}"#, "directories"),
        (r#"{"directories":[1]}"#, "name"),
    ] {
        let refusal = read_environment(environment).unwrap_err();
        assert!(refusal.contains(word), "{environment}: {refusal}");
    }
    assert_eq!(read_environment("{}"), Ok(Environment::default()));
}

#[test]
fn a_call_knows_when_it_is_nearly_over() {
    let time = Cell::new(Duration::from_secs(100));
    let clock = || time.get();
    let call = Call::new(&clock, Duration::from_secs(10), &|_, _, _| {});
    assert!(!call.is_nearly_over());
    time.set(Duration::from_millis(107_900));
    assert!(!call.is_nearly_over() && call.is_past(0.5));
    time.set(Duration::from_millis(108_100));
    assert!(call.is_nearly_over());
}
