//! What a person grants to a component: directories. Everything else is withheld.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The name of the directory in which a component that keeps a store keeps it. It is locked around each call, so that
/// several processes can share it.
pub const STORE_GRANT: &str = "data";

/// A directory that the component may use, under `/NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The component sees it as `/NAME`.
    pub name: String,
    /// Where it is on this machine.
    pub path: PathBuf,
    /// The component can't change anything in it.
    pub read_only: bool,
}

/// A `NAME=PATH[:ro]` that can't be understood.
#[derive(Debug, PartialEq, Eq)]
pub struct BadGrant(String);

impl fmt::Display for BadGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadGrant {}

impl FromStr for Grant {
    type Err = BadGrant;

    /// Reads `NAME=PATH` or `NAME=PATH:ro`. A path that really ends in `:ro` can be written with a slash behind it.
    fn from_str(text: &str) -> Result<Grant, BadGrant> {
        let Some((name, path)) = text.split_once('=') else {
            return Err(BadGrant(format!(
                "`{text}` is not of the form NAME=PATH or NAME=PATH:ro"
            )));
        };
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if name.is_empty() || !name.bytes().all(plain) {
            return Err(BadGrant(format!(
                "the name `{name}` must consist of letters, digits, `-` and `_`"
            )));
        }
        let (path, read_only) = match path.strip_suffix(":ro") {
            Some(path) => (path, true),
            None => (path, false),
        };
        if path.is_empty() {
            return Err(BadGrant(format!("the path of `{name}` is empty")));
        }
        Ok(Grant {
            name: name.to_owned(),
            path: PathBuf::from(path),
            read_only,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_are_read() {
        let grant = |text: &str| text.parse::<Grant>();
        let expected = |path: &str, read_only| Grant {
            name: "a-1".into(),
            path: path.into(),
            read_only,
        };
        assert_eq!(grant("a-1=/x"), Ok(expected("/x", false)));
        assert_eq!(grant("a-1=/x:ro"), Ok(expected("/x", true)));
        assert_eq!(grant("a-1=/x=y:ro/"), Ok(expected("/x=y:ro/", false)));
    }

    #[test]
    fn grants_that_name_nothing_are_refused() {
        for text in ["", "a", "=/x", "a=", "a=:ro", "a/b=/x", "..=/x", "a b=/x"] {
            assert!(text.parse::<Grant>().is_err(), "{text}");
        }
    }
}
