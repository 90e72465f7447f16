//! Does the whole behave, seen from outside?

#![allow(missing_docs, reason = "tests are read, not called")]

mod scan;
