//! How do I reach a daemon that speaks my protocol?
