//! What does git say? (gix only)
