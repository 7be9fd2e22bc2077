//! The corpora that there are, each loaded when it is first needed and kept.

use std::rc::Rc;

use ranking::Pool;

use crate::cache;
use crate::config::{LISTINGS, LOADING_SHARE, MAX_CORPUS_BYTES, SERVER_NAME};
use crate::corpus::{Corpus, CorpusError, listings, read_corpus};
use crate::request::{Call, Environment, Granted};
use crate::retriever::{Indexing, Retriever};
use crate::security::echo;

/// Documents that are indexed between two looks at the clock: some milliseconds' worth.
const SLICE: usize = 32;

/// A corpus that can be searched.
pub struct Loaded {
    /// What it is called.
    pub name: String,
    /// What is in it.
    pub corpus: Corpus,
    /// How it is searched.
    pub retriever: Retriever,
}

/// A corpus whose index is being made.
struct Unfinished {
    name: String,
    corpus: Corpus,
    indexing: Indexing,
}

/// Everything that was granted, and what has been made of it.
///
/// A corpus is read once a process: what changes in its directory later is seen by the next process. One that can't be
/// read is tried again whenever it is asked for.
pub struct Library {
    environment: Environment,
    /// The one used last comes last.
    loaded: Vec<Rc<Loaded>>,
    /// Only one at a time: whoever asks for another one drops it.
    unfinished: Option<Unfinished>,
}

impl Library {
    /// A library over what was granted. Reads nothing.
    pub fn new(environment: Environment) -> Self {
        Self {
            environment,
            loaded: Vec::new(),
            unfinished: None,
        }
    }

    /// Names of all corpora: those granted, in their order, then the synthetic one.
    pub fn names(&self) -> Vec<&str> {
        let granted = self.environment.corpora.iter();
        granted
            .map(|granted| granted.name.as_str())
            .chain([LISTINGS])
            .collect()
    }

    /// The corpus that is meant when none is named: the first that was granted, else the synthetic one.
    pub fn default_name(&self) -> &str {
        self.environment
            .corpora
            .first()
            .map_or(LISTINGS, |granted| &granted.name)
    }

    /// Directories that may be searched for lines.
    pub fn repositories(&self) -> &[Granted] {
        &self.environment.repositories
    }

    /// Grants that mean nothing here, and why.
    pub fn unused_grants(&self) -> &[String] {
        &self.environment.unused
    }

    /// A corpus, which is loaded if it is not yet. None means the default one.
    ///
    /// # Errors
    ///
    /// A name that no corpus has; a corpus that is missing or broken; one so large that loading it takes another call.
    pub fn open(&mut self, name: Option<&str>, call: &Call<'_>) -> Result<Rc<Loaded>, CorpusError> {
        let name = name.unwrap_or(self.default_name()).to_owned();
        if let Some(at) = self.loaded.iter().position(|loaded| loaded.name == name) {
            let found = self.loaded.remove(at);
            self.loaded.push(Rc::clone(&found));
            return Ok(found);
        }
        let mut unfinished = match self.unfinished.take() {
            Some(unfinished) if unfinished.name == name => unfinished,
            _ => {
                let corpus = self.read(&name)?;
                if let Some(pool) = self.kept(&name, &corpus) {
                    return Ok(self.add(name, corpus, pool.into()));
                }
                Unfinished {
                    name,
                    corpus,
                    indexing: Indexing::default(),
                }
            }
        };
        loop {
            let more = unfinished.indexing.step(&unfinished.corpus);
            let due = !more || unfinished.indexing.done() % SLICE == 0;
            // Finishing takes a while too, and can't be divided.
            if due && call.is_past(LOADING_SHARE) {
                let error = CorpusError::Loading {
                    done: unfinished.indexing.done(),
                    total: unfinished.corpus.documents.len(),
                };
                self.unfinished = Some(unfinished);
                return Err(error);
            }
            if !more {
                break;
            }
        }
        let Unfinished {
            name,
            corpus,
            indexing,
        } = unfinished;
        let retriever = indexing.finish(|snapshot| self.keep(&name, &corpus, snapshot));
        Ok(self.add(name, corpus, retriever))
    }

    fn add(&mut self, name: String, corpus: Corpus, retriever: Retriever) -> Rc<Loaded> {
        let loaded = Rc::new(Loaded {
            name,
            corpus,
            retriever,
        });
        self.loaded.push(Rc::clone(&loaded));
        self.make_room();
        loaded
    }

    /// An index that an earlier process kept.
    fn kept(&self, name: &str, corpus: &Corpus) -> Option<Pool> {
        cache::load(self.environment.cache.as_ref()?, name, corpus)
    }

    /// Keeps an index for later processes, if that was granted. The synthetic one is made faster than it is read.
    fn keep(&self, name: &str, corpus: &Corpus, snapshot: &[u8]) {
        let Some(directory) = self.environment.cache.as_ref().filter(|_| name != LISTINGS) else {
            return;
        };
        if let Err(error) = cache::save(directory, name, corpus, snapshot) {
            eprintln!("{SERVER_NAME}: the index of {name} is not kept: {error}");
        }
    }

    fn read(&self, name: &str) -> Result<Corpus, CorpusError> {
        if name == LISTINGS {
            return listings::generate(listings::SEED);
        }
        let granted = self.environment.corpora.iter();
        match granted.into_iter().find(|granted| granted.name == name) {
            Some(granted) => read_corpus(&granted.path),
            None => Err(CorpusError::Unknown {
                name: echo(name),
                known: self.names().join(", "),
            }),
        }
    }

    /// Drops those that were not used for longest, until the rest fits; the last one always stays.
    fn make_room(&mut self) {
        let bytes = |loaded: &[Rc<Loaded>]| -> u64 {
            loaded.iter().map(|loaded| loaded.corpus.bytes).sum()
        };
        while self.loaded.len() > 1 && bytes(&self.loaded) > MAX_CORPUS_BYTES {
            self.loaded.remove(0);
        }
    }
}

#[cfg(test)]
#[path = "library_tests.rs"]
mod tests;
