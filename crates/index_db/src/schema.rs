//! Declares the schema of index.db and its migrations.
//!
//! Migrations are only ever appended. A database of a newer schema is refused and left unchanged.

/// One migration per schema version, oldest first.
pub(super) const INDEX_MIGRATIONS: &[&str] = &[
    "
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- One content, whatever its paths. `lang` is a part of the identity: the same bytes are extracted
-- differently under another extension.
CREATE TABLE blob(
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL,                 -- blake3 of the bytes in the worktree
    lang TEXT NOT NULL,                 -- '' where unknown
    size INTEGER NOT NULL,
    kind TEXT NOT NULL,                 -- text | minified | opted-out | struck | killed
    extractor_version INTEGER NOT NULL,
    refs TEXT,                          -- names used: 'name count' a line
    problems TEXT,                      -- what extraction complained of, a line each
    last_ref INTEGER NOT NULL,          -- unix seconds when a view last let go of it
    UNIQUE(hash, lang)
) STRICT;

CREATE TABLE chunk(
    id INTEGER PRIMARY KEY AUTOINCREMENT,   -- never reused: copies of vectors in memory go by it
    blob_id INTEGER NOT NULL REFERENCES blob(id) ON DELETE CASCADE,
    ord INTEGER NOT NULL,
    kind TEXT NOT NULL,                 -- doc | map | symbol | text
    b0 INTEGER NOT NULL, b1 INTEGER NOT NULL,   -- bytes of the text, half-open
    l0 INTEGER NOT NULL, l1 INTEGER NOT NULL,   -- lines, 1-based, inclusive
    symbol TEXT, title TEXT,
    text TEXT,                          -- only where it is not the byte span: map records
    text_hash BLOB NOT NULL,            -- blake3 of what is embedded
    vec_state INTEGER NOT NULL,         -- 0 to do, 1 has a vector, 2 has none
    UNIQUE(blob_id, ord)
) STRICT;
CREATE INDEX chunk_to_embed ON chunk(id) WHERE vec_state = 0;

-- Exact names; a chunk of several one-line definitions has several.
CREATE TABLE symbol(
    name TEXT NOT NULL COLLATE NOCASE,
    chunk_id INTEGER NOT NULL REFERENCES chunk(id) ON DELETE CASCADE,
    PRIMARY KEY(name, chunk_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX symbol_chunk ON symbol(chunk_id);

CREATE VIRTUAL TABLE chunk_fts USING fts5(symbol, title, body,
    content='', contentless_delete=1, tokenize='ascii');
CREATE VIRTUAL TABLE chunk_vocab USING fts5vocab(chunk_fts, row);

CREATE TABLE embedding(
    text_hash BLOB NOT NULL, model_id TEXT NOT NULL,
    vec BLOB,                           -- int8, L2-normalized times 127; null: the model knows no word of it
    PRIMARY KEY(text_hash, model_id)
) STRICT, WITHOUT ROWID;

-- One worktree. Ids of worktrees are reused after `git worktree remove`, hence the inode.
CREATE TABLE view(
    id INTEGER PRIMARY KEY,
    git_dir TEXT NOT NULL UNIQUE, git_dir_inode INTEGER NOT NULL,
    root TEXT NOT NULL, head TEXT,
    epoch INTEGER NOT NULL, seq INTEGER NOT NULL,
    complete INTEGER NOT NULL           -- the first walk has ended
) STRICT;

-- The manifest of each view.
CREATE TABLE entry(
    view_id INTEGER NOT NULL REFERENCES view(id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    blob_id INTEGER REFERENCES blob(id),
    refusal TEXT,                       -- why blob_id is null
    mode INTEGER NOT NULL, size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL, dev INTEGER NOT NULL,
    racy INTEGER NOT NULL,
    PRIMARY KEY(view_id, path),
    CHECK ((blob_id IS NULL) != (refusal IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX entry_blob ON entry(blob_id, view_id);

-- Every distinct path once, with its words and vector: a rename costs nothing else.
CREATE TABLE path(
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE,
    vec BLOB, vec_state INTEGER NOT NULL
) STRICT;
CREATE INDEX path_to_embed ON path(id) WHERE vec_state = 0;
CREATE VIRTUAL TABLE path_fts USING fts5(words,
    content='', contentless_delete=1, tokenize='ascii');

-- Contents that were being extracted when a daemon died, and how often.
CREATE TABLE strike(hash BLOB PRIMARY KEY, times INTEGER NOT NULL) STRICT, WITHOUT ROWID;
",
    "
-- Extraction has a process of its own, which ends in the daemon's place.
DROP TABLE strike;
",
    "
-- Contents whose extraction was killed from outside: each daemon tries them again.
CREATE INDEX blob_killed ON blob(id) WHERE kind = 'killed';
",
    "
-- What has a name in a content, with the hashes of what it says, wherever it stands: of all of it, and without its names.
CREATE TABLE definition(
    blob_id INTEGER NOT NULL REFERENCES blob(id) ON DELETE CASCADE,
    title TEXT NOT NULL, names TEXT NOT NULL,
    l0 INTEGER NOT NULL, l1 INTEGER NOT NULL,
    text BLOB NOT NULL, shape BLOB NOT NULL,
    PRIMARY KEY(blob_id, title)
) STRICT, WITHOUT ROWID;
CREATE INDEX definition_text ON definition(text);
",
    "
-- How many credentials were cut out of a content, and whether all of it has become a secret: then it goes as soon as
-- nobody refers to it.
ALTER TABLE blob ADD COLUMN n_secrets INTEGER NOT NULL DEFAULT 0;
ALTER TABLE blob ADD COLUMN is_secret INTEGER NOT NULL DEFAULT 0;
CREATE INDEX blob_secret ON blob(id) WHERE is_secret = 1;
CREATE INDEX blob_size ON blob(size);
-- What was extracted so far may show what is cut out by now.
INSERT INTO meta(key, value) SELECT 'unscrubbed', '1' WHERE EXISTS (SELECT 1 FROM blob);
DELETE FROM entry;
INSERT INTO chunk_fts(chunk_fts) VALUES('delete-all');
DELETE FROM blob;
UPDATE view SET complete = 0, seq = seq + 1;
",
    "
-- A kind says what happened: 'struck' is 'parse-failed', and 'killed' is 'parse-aborted'.
DROP INDEX blob_killed;
UPDATE blob SET kind = CASE kind WHEN 'struck' THEN 'parse-failed' ELSE 'parse-aborted' END
    WHERE kind IN ('struck', 'killed');
CREATE INDEX blob_parse_aborted ON blob(id) WHERE kind = 'parse-aborted';
",
    "
-- Texts that the model fails on: `vec_state` is 3, and the vector of a text is empty. Another model tries them again.
CREATE INDEX chunk_embed_failed ON chunk(id) WHERE vec_state = 3;
CREATE INDEX path_embed_failed ON path(id) WHERE vec_state = 3;
",
    "
-- A table of sqlite-vec may have the vectors of chunks too (`vector_table.rs`); an older version would not keep it equal.
",
    "
-- Vectors of paths by the model that `meta.next_model` names, as in `path`; empty: the model fails on it. Those of chunks
-- are in `embedding`. See `model_switch.rs`.
CREATE TABLE next_path(path_id INTEGER PRIMARY KEY REFERENCES path(id) ON DELETE CASCADE, vec BLOB) STRICT;
",
    "
-- Words of chunks are in lists of our own (`postings.rs`): all contents are extracted again; vectors of texts stay.
DROP TABLE chunk_vocab;
DROP TABLE chunk_fts;
DROP TABLE IF EXISTS chunk_vec;
DELETE FROM meta WHERE key = 'vectors_filled_to';
INSERT OR IGNORE INTO meta(key, value) SELECT 'unscrubbed', '1' WHERE EXISTS (SELECT 1 FROM blob);
DELETE FROM entry;
DELETE FROM blob;
UPDATE view SET complete = 0, seq = seq + 1;
ALTER TABLE chunk ADD COLUMN n_words INTEGER NOT NULL DEFAULT 0;    -- of names, title and body

CREATE TABLE term(term TEXT PRIMARY KEY, id INTEGER NOT NULL) STRICT, WITHOUT ROWID;
-- Chunks that were added together, or merged: `first` to `last`, which no other segment has.
CREATE TABLE segment(
    id INTEGER PRIMARY KEY,
    first INTEGER NOT NULL, last INTEGER NOT NULL,
    n_chunks INTEGER NOT NULL,
    postings BLOB, places BLOB          -- of all its words, or null: they are in the next tables
) STRICT;
CREATE TABLE posting(id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
CREATE TABLE position(id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
",
    "
-- Words of paths are in memory (`path_index.rs`).
DROP TABLE path_fts;
",
    "
-- Pieces of the words of a chunk, u16 each, little-endian, ascending (the crate `tokenizer`). Contents are extracted again,
-- because their version has changed.
CREATE TABLE chunk_pieces(
    chunk_id INTEGER PRIMARY KEY REFERENCES chunk(id) ON DELETE CASCADE,
    pieces BLOB NOT NULL
) STRICT;
",
    "
ALTER TABLE blob ADD COLUMN routes TEXT;    -- HTTP routes declared: 'line method path' a line, null where there is none
CREATE INDEX blob_with_routes ON blob(id) WHERE routes IS NOT NULL;
",
    "
-- What a content declares, imports and uses (`types/structure.rs`). Contents are extracted again, because their version has
-- changed.
CREATE TABLE structure(
    blob_id INTEGER PRIMARY KEY REFERENCES blob(id) ON DELETE CASCADE,
    data BLOB NOT NULL
) STRICT;
",
    "
-- Each answer asks which files may not be read.
CREATE INDEX entry_unreadable ON entry(view_id, path) WHERE refusal = 'unreadable';
",
    "
-- A field, attribute or variant of a type, and the number of declarations before an implementation. Contents are extracted again,
-- because their version has changed.
ALTER TABLE definition ADD COLUMN is_field INTEGER NOT NULL DEFAULT 0;
ALTER TABLE definition ADD COLUMN n_overloads INTEGER NOT NULL DEFAULT 0;
",
    "
-- The part of the path on which extraction depends is a part of the identity of a content too: two equal files define two
-- components. All contents are extracted again; vectors of texts stay.
DROP TABLE IF EXISTS chunk_vec;
DELETE FROM meta
    WHERE key IN ('vectors_filled_to', 'unused_terms_from', 'terms_checked_to', 'n_terms_checked', 'last_term');
INSERT OR IGNORE INTO meta(key, value) SELECT 'unscrubbed', '1' WHERE EXISTS (SELECT 1 FROM blob);
DELETE FROM entry;
DELETE FROM blob;
DELETE FROM segment;
DELETE FROM posting;
DELETE FROM position;
DELETE FROM term;
UPDATE view SET complete = 0, seq = seq + 1;
DROP TABLE blob;
CREATE TABLE blob(
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL,                 -- blake3 of the bytes in the worktree
    lang TEXT NOT NULL,                 -- '' where unknown
    path_part TEXT NOT NULL DEFAULT '', -- such as the name of a component; '' where only the format matters
    size INTEGER NOT NULL,
    kind TEXT NOT NULL,                 -- text | minified | opted-out | parse-failed | parse-aborted | …
    extractor_version INTEGER NOT NULL,
    refs TEXT,                          -- names used: 'name count' a line
    problems TEXT,                      -- problems of the extraction, a line each
    last_ref INTEGER NOT NULL,          -- unix seconds when a view last let go of it
    n_secrets INTEGER NOT NULL DEFAULT 0,
    is_secret INTEGER NOT NULL DEFAULT 0,
    routes TEXT,                        -- HTTP routes declared: 'line method path' a line, null where there is none
    UNIQUE(hash, lang, path_part)
) STRICT;
CREATE INDEX blob_secret ON blob(id) WHERE is_secret = 1;
CREATE INDEX blob_size ON blob(size);
CREATE INDEX blob_parse_aborted ON blob(id) WHERE kind = 'parse-aborted';
CREATE INDEX blob_with_routes ON blob(id) WHERE routes IS NOT NULL;
",
];
