//! What is searched, what is left out, and where it ends.

use super::*;
use std::cell::Cell;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

fn tree(files: &[(&str, &str)]) -> (TempDir, Granted) {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let granted = Granted {
        name: "site".to_owned(),
        path: directory.path().to_owned(),
    };
    (directory, granted)
}

fn args(pattern: &str, glob: Option<&str>) -> GrepArgs {
    GrepArgs {
        pattern: pattern.to_owned(),
        path_glob: glob.map(str::to_owned),
        max_results: 10,
    }
}

fn grep(repository: &Granted, args: &GrepArgs) -> Result<Found, BadPattern> {
    let clock = || Duration::ZERO;
    let call = Call::new(&clock, Duration::from_secs(10), &|_, _, _| {});
    search(std::slice::from_ref(repository), args, &call)
}

fn places(found: &Found) -> Vec<String> {
    let line = |line: &Line| format!("{}:{}:{}", line.path, line.number, line.text);
    found.lines.iter().map(line).collect()
}

#[test]
fn matching_lines_are_found_in_the_order_of_paths() {
    let (_directory, repository) = tree(&[
        ("src/b.rs", "fn one() {}\r\nlet x = 1;\nfn two() {}"),
        ("a.txt", "FN in capitals"),
    ]);
    let found = grep(&repository, &args("fn", None)).unwrap();
    assert_eq!(
        places(&found),
        [
            "site/a.txt:1:FN in capitals",
            "site/src/b.rs:1:fn one() {}",
            "site/src/b.rs:3:fn two() {}"
        ]
    );
    assert_eq!((found.files, found.stopped), (2, None));
    let exact = grep(&repository, &args("FN", None)).unwrap();
    assert_eq!(exact.lines.len(), 1, "a capital makes it exact");
}

#[test]
fn a_glob_chooses_files() {
    let (_directory, repository) = tree(&[
        ("src/a.rs", "word"),
        ("src/deep/b.rs", "word"),
        ("src/c.py", "word"),
        ("b.rs", "word"),
    ]);
    let found = |glob: &str| places(&grep(&repository, &args("word", Some(glob))).unwrap());
    assert_eq!(found("*.py"), ["site/src/c.py:1:word"]);
    assert_eq!(
        found("src/**/*.rs"),
        ["site/src/a.rs:1:word", "site/src/deep/b.rs:1:word"]
    );
    assert_eq!(found("!*.rs"), ["site/src/c.py:1:word"]);
    assert_eq!(found("../*"), [""; 0]);
}

#[test]
fn ignored_hidden_binary_and_large_files_are_left_out() {
    let (directory, repository) = tree(&[
        (".gitignore", "target/\n*.log\n"),
        ("target/a.rs", "word"),
        ("a.log", "word"),
        ("sub/.gitignore", "secret.txt"),
        ("sub/secret.txt", "word"),
        (".hidden/a.rs", "word"),
        (".env", "word"),
        ("binary", "word\n\0\nword"),
        ("kept.rs", "word"),
    ]);
    let large = vec![b'w'; MAX_GREP_FILE_BYTES as usize + 1];
    fs::write(directory.path().join("large.txt"), large).unwrap();
    fs::write(directory.path().join("latin.txt"), b"word \xff").unwrap();
    let found = grep(&repository, &args("w", None)).unwrap();
    assert_eq!(
        places(&found),
        ["site/kept.rs:1:word", "site/latin.txt:1:word \u{fffd}"]
    );
    assert_eq!(found.too_large, 1);
}

#[cfg(unix)]
#[test]
fn no_symbolic_link_is_followed() {
    let (outside, _) = tree(&[("secret.txt", "word outside")]);
    let (directory, repository) = tree(&[("inside.txt", "word inside"), ("sub/a.txt", "word")]);
    let link = |target: PathBuf, name: &str| {
        std::os::unix::fs::symlink(target, directory.path().join(name)).unwrap();
    };
    link(outside.path().to_owned(), "directory");
    link(outside.path().join("secret.txt"), "file.txt");
    link(directory.path().to_owned(), "loop");
    link(directory.path().join("inside.txt"), "again.txt");
    let found = grep(&repository, &args("word", None)).unwrap();
    assert_eq!(
        places(&found),
        ["site/inside.txt:1:word inside", "site/sub/a.txt:1:word"]
    );
}

#[test]
fn results_are_bounded_and_one_more_tells_that_there_are_more() {
    let (_directory, repository) = tree(&[("a.txt", &"word\n".repeat(100)), ("b.txt", "word")]);
    let found = grep(&repository, &args("word", None)).unwrap();
    assert_eq!(
        (found.lines.len(), found.stopped),
        (11, Some(Stopped::Results))
    );
    assert_eq!(found.files, 1, "the second file was not needed");
}

#[test]
fn a_long_line_is_cut() {
    let (_directory, repository) = tree(&[("a.js", &"é".repeat(100_000))]);
    let found = grep(&repository, &args("é", None)).unwrap();
    assert_eq!(found.lines[0].text.chars().count(), LINE_CHARS + 1);
}

#[test]
fn it_ends_when_the_time_is_nearly_over() {
    let files: Vec<(String, &str)> = (0..50).map(|n| (format!("{n:02}.txt"), "word")).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(n, text)| (n.as_str(), *text)).collect();
    let (_directory, repository) = tree(&files);
    let time = Cell::new(Duration::ZERO);
    let clock = || {
        time.set(time.get() + Duration::from_millis(500));
        time.get()
    };
    let call = Call::new(&clock, Duration::from_secs(10), &|_, _, _| {});
    let args = GrepArgs {
        max_results: 500,
        ..args("word", None)
    };
    let found = search(&[repository], &args, &call).unwrap();
    assert_eq!(found.stopped, Some(Stopped::Time));
    assert!(!found.lines.is_empty() && found.lines.len() < 50);
}

#[test]
fn bad_patterns_and_globs_are_refused_with_what_is_wrong() {
    let (_directory, repository) = tree(&[("a.txt", "word")]);
    for (pattern, glob, word) in [
        ("(", None, "unclosed group"),
        ("a{1000}{1000}{1000}", None, "pattern must be"),
        ("(?=x)", None, "look-around"),
        ("a\nb", None, "pattern must be"),
        ("a", Some("{a"), "path_glob must be"),
    ] {
        let refusal = grep(&repository, &args(pattern, glob))
            .unwrap_err()
            .to_string();
        assert!(refusal.contains(word), "{pattern}: {refusal}");
    }
}

#[test]
fn a_directory_that_is_gone_is_counted_and_not_an_error() {
    let gone = Granted {
        name: "gone".to_owned(),
        path: PathBuf::from("/nowhere/at/all"),
    };
    let found = grep(&gone, &args("x", None)).unwrap();
    assert_eq!((found.files, found.unreadable), (0, 1));
}
