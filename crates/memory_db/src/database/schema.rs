//! The schema and migrations of memory.db.
//!
//! Migrations are only ever appended, and a backup is made before a migration. A database of a newer schema is refused unchanged.

/// The SQL of each schema version, oldest first: each string migrates from the version before.
pub(crate) const MEMORY_SCHEMA: &[&str] = &[
    "
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- Times are unix milliseconds.
CREATE TABLE memory(
    row INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused: the full-text index goes by it
    id TEXT NOT NULL UNIQUE,                -- mem_ and a ULID
    content TEXT NOT NULL, title TEXT,
    container TEXT NOT NULL,
    tier TEXT NOT NULL,                     -- short | mid | long
    expires_at INTEGER,
    priority INTEGER NOT NULL, confidence REAL NOT NULL,
    source TEXT NOT NULL, author TEXT NOT NULL,
    created INTEGER NOT NULL, updated INTEGER NOT NULL,
    last_access INTEGER, access_count INTEGER NOT NULL,
    metadata TEXT NOT NULL,                 -- a JSON object
    hash BLOB NOT NULL,                     -- blake3 of the normalised content
    archived_at INTEGER, archived_why TEXT, -- forgotten | expired
    CHECK ((archived_at IS NULL) = (archived_why IS NULL))
) STRICT;
-- No text twice among the living of a container.
CREATE UNIQUE INDEX memory_text ON memory(container, hash) WHERE archived_at IS NULL;
CREATE INDEX memory_expiry ON memory(expires_at) WHERE archived_at IS NULL AND expires_at IS NOT NULL;
CREATE INDEX memory_created ON memory(created);

CREATE TABLE tag(
    memory INTEGER NOT NULL REFERENCES memory(row) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    PRIMARY KEY(memory, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX tag_memory ON tag(tag, memory);

CREATE TABLE link(
    source INTEGER NOT NULL REFERENCES memory(row) ON DELETE CASCADE,
    target INTEGER NOT NULL REFERENCES memory(row) ON DELETE CASCADE,
    kind TEXT NOT NULL,                     -- related_to | supersedes | contradicts | derived_from
    created INTEGER NOT NULL,
    PRIMARY KEY(source, target, kind),
    CHECK (source != target)
) STRICT, WITHOUT ROWID;
CREATE INDEX link_target ON link(target);

-- Every change, with what was before.
CREATE TABLE history(
    row INTEGER PRIMARY KEY,
    memory INTEGER NOT NULL REFERENCES memory(row) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    action TEXT NOT NULL, author TEXT NOT NULL, source TEXT NOT NULL,
    fields TEXT NOT NULL                    -- JSON: {field: [before, after]}
) STRICT;
CREATE INDEX history_memory ON history(memory);

-- What was answered lately: a request that comes again gets the same answer.
CREATE TABLE request(name TEXT PRIMARY KEY, at INTEGER NOT NULL, answer TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX request_at ON request(at);

CREATE VIRTUAL TABLE memory_fts USING fts5(title, tags, body,
    content='', contentless_delete=1, tokenize='ascii');
",
    "
-- Where an imported text comes from (`import:/docs/a.md`), and the import that brought it last.
ALTER TABLE memory ADD COLUMN key TEXT;
ALTER TABLE memory ADD COLUMN run INTEGER;
CREATE INDEX memory_key ON memory(key, run) WHERE key IS NOT NULL;
-- What a source says may be said elsewhere too: each has it once.
DROP INDEX memory_text;
CREATE UNIQUE INDEX memory_text ON memory(container, hash, coalesce(key, '')) WHERE archived_at IS NULL;
",
    "
-- What a memory is about: JSON of `proto::anchor::Anchor`, without what depends on the worktree.
CREATE TABLE anchor(
    memory INTEGER NOT NULL REFERENCES memory(row) ON DELETE CASCADE,
    ord INTEGER NOT NULL,
    anchor TEXT NOT NULL,
    PRIMARY KEY(memory, ord)
) STRICT, WITHOUT ROWID;
",
    "
-- int8, of title and content; NULL: the model knows no word of them. Derived: who changes a memory need not care.
CREATE TABLE memory_vector(
    memory INTEGER PRIMARY KEY REFERENCES memory(row) ON DELETE CASCADE,
    model TEXT NOT NULL,
    vec BLOB
) STRICT;
CREATE TRIGGER memory_vector_stale AFTER UPDATE OF title, content ON memory
WHEN old.title IS NOT new.title OR old.content IS NOT new.content
BEGIN
    DELETE FROM memory_vector WHERE memory = new.row;
END;
CREATE VIRTUAL TABLE memory_vocab USING fts5vocab(memory_fts, row);
",
    "
-- From now on with stems. All words are put anew when it is opened.
INSERT INTO memory_fts(memory_fts) VALUES('delete-all');
",
    "
-- Which database this is and how often it was written: what a copy holds is known from that, whatever its name or
-- the clock says. See `Lineage`.
INSERT INTO meta VALUES('lineage', lower(hex(randomblob(8))));
INSERT INTO meta SELECT 'writes', coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'memory'), 0)
    + coalesce((SELECT max(row) FROM history), 0);
-- What was deleted for good, its last change and when it was deleted: it does not come back out of an older copy.
CREATE TABLE deleted(id TEXT PRIMARY KEY, updated INTEGER NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TRIGGER memory_deleted AFTER DELETE ON memory
BEGIN
    INSERT OR REPLACE INTO deleted VALUES(old.id, old.updated, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
CREATE TRIGGER memory_put_back AFTER INSERT ON memory
BEGIN
    DELETE FROM deleted WHERE id = new.id;
END;
",
    "
-- blake3 of what was asked for: no other request is answered by its name. NULL: from before this was kept.
ALTER TABLE request ADD COLUMN digest BLOB;
",
    "
-- A memory may have vectors of two models: of the one that answers, and of the one that is to follow. `meta.model` names the
-- one that answers, unless it is the default.
DROP TRIGGER memory_vector_stale;
DROP TABLE memory_vector;
CREATE TABLE memory_vector(
    memory INTEGER NOT NULL REFERENCES memory(row) ON DELETE CASCADE,
    model TEXT NOT NULL,
    vec BLOB,
    PRIMARY KEY(memory, model)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER memory_vector_stale AFTER UPDATE OF title, content ON memory
WHEN old.title IS NOT new.title OR old.content IS NOT new.content
BEGIN
    DELETE FROM memory_vector WHERE memory = new.row;
END;
",
    "
-- Name of the agent that added it, as the agent gave it.
ALTER TABLE memory ADD COLUMN agent TEXT;
",
    "
-- From now on with the names of what a memory is about. All words are put anew when it is opened.
INSERT INTO memory_fts(memory_fts) VALUES('delete-all');
",
    "
-- Shared memories are files in worktrees. 1: its file is the truth; 2: it stays here although a rule would share it.
ALTER TABLE memory ADD COLUMN shared INTEGER NOT NULL DEFAULT 0;
-- The row is what one worktree has of that memory while another has another version; its id is that id, # and more.
ALTER TABLE memory ADD COLUMN main INTEGER REFERENCES memory(row) ON DELETE CASCADE;
ALTER TABLE memory ADD COLUMN version BLOB;      -- blake3 of the file with LF
ALTER TABLE memory ADD COLUMN file_links TEXT;   -- JSON: [[kind, id]], also of memories that are not here
ALTER TABLE memory ADD COLUMN linked TEXT;       -- those of them that are rows of link
CREATE INDEX memory_main ON memory(main) WHERE main IS NOT NULL;
-- Two people may write the same text, each in a file.
DROP INDEX memory_text;
CREATE UNIQUE INDEX memory_text ON memory(container, hash, coalesce(key, ''))
    WHERE archived_at IS NULL AND shared != 1 AND main IS NULL;
CREATE TABLE worktree(
    id INTEGER PRIMARY KEY AUTOINCREMENT,        -- never reused: requests that run know it
    git_dir TEXT NOT NULL UNIQUE                 -- from the common dir
) STRICT;
-- What each file of a worktree shows. Side 0 is all of it; 1 and 2 are ours and theirs of a conflict.
CREATE TABLE memory_file(
    worktree INTEGER NOT NULL REFERENCES worktree(id) ON DELETE CASCADE,
    name TEXT NOT NULL, side INTEGER NOT NULL,
    memory INTEGER REFERENCES memory(row) ON DELETE CASCADE,
    hash BLOB NOT NULL,
    why TEXT,                                    -- why it shows none
    PRIMARY KEY(worktree, name, side)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_file_memory ON memory_file(memory);
-- What a verb has committed and is about to write to a file, unless its text is another one than before.
CREATE TABLE pending_file(
    worktree INTEGER NOT NULL REFERENCES worktree(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    former BLOB,                                 -- blake3 with LF; NULL: no file
    text TEXT,                                   -- NULL: it is removed
    PRIMARY KEY(worktree, name)
) STRICT, WITHOUT ROWID;
-- Versions that this user has written or confirmed.
CREATE TABLE trusted_version(
    memory INTEGER NOT NULL REFERENCES memory(row) ON DELETE CASCADE,
    hash BLOB NOT NULL,
    PRIMARY KEY(memory, hash)
) STRICT, WITHOUT ROWID;
-- Only a memory is deleted for good, not what a worktree has of it.
DROP TRIGGER memory_deleted;
CREATE TRIGGER memory_deleted AFTER DELETE ON memory WHEN old.main IS NULL
BEGIN
    INSERT OR REPLACE INTO deleted VALUES(old.id, old.updated, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
",
    "
-- 3 in memory.shared: the team has it. Such a row with main is the team's side of a conflict.
DROP INDEX memory_text;
CREATE UNIQUE INDEX memory_text ON memory(container, hash, coalesce(key, ''))
    WHERE archived_at IS NULL AND shared NOT IN (1, 3) AND main IS NULL;
-- What the team has of a memory, as far as it is known here. A text is that of a file; empty: archived.
CREATE TABLE team_memory(
    id TEXT PRIMARY KEY,
    text TEXT NOT NULL, hash BLOB NOT NULL,      -- SHA-256 of the text
    updated INTEGER,                             -- memory.updated when they were equal
    base TEXT,                                   -- what the team had when unsent changes began; NULL: all is sent
    theirs TEXT,                                 -- the team's side of a conflict; text is ours
    why TEXT                                     -- why it shows no memory
) STRICT, WITHOUT ROWID;
CREATE INDEX team_trouble ON team_memory(id) WHERE theirs IS NOT NULL OR why IS NOT NULL;
-- Changes that are to be sent, in this order.
CREATE TABLE outbox(
    n INTEGER PRIMARY KEY AUTOINCREMENT,         -- never reused: the server knows by it what it has
    id TEXT NOT NULL,
    former BLOB,                                 -- hash of what the team has before; NULL: nothing
    text TEXT NOT NULL
) STRICT;
CREATE INDEX outbox_id ON outbox(id);
CREATE INDEX memory_hash ON memory(hash);           -- the partial one is not for a search of all
CREATE INDEX memory_team_links ON memory(row) WHERE shared = 3 AND main IS NULL AND file_links IS NOT linked;
-- What is deleted for good here is archived for the others.
CREATE TRIGGER team_deleted AFTER DELETE ON memory WHEN old.main IS NULL AND old.shared = 3
BEGIN
    INSERT INTO outbox(id, former, text) SELECT id, iif(EXISTS (SELECT 1 FROM outbox WHERE id = old.id),
        (SELECT former FROM outbox WHERE id = old.id ORDER BY n LIMIT 1), hash), '' FROM team_memory WHERE id = old.id AND text != '';
    DELETE FROM outbox WHERE id = old.id AND text != '';
    UPDATE team_memory SET base = '', text = '', theirs = NULL, why = NULL, updated = NULL,
        hash = x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' WHERE id = old.id;
END;
",
    "
-- 4 in memory.shared: a copy of what another repository of the team has, under its id, `#of ` and the name of that repository. So no
-- verb takes it for a memory of this repository that has the same id.
ALTER TABLE memory ADD COLUMN repository TEXT;
CREATE INDEX memory_repository ON memory(repository) WHERE repository IS NOT NULL;
DROP INDEX memory_text;
CREATE UNIQUE INDEX memory_text ON memory(container, hash, coalesce(key, ''))
    WHERE archived_at IS NULL AND shared NOT IN (1, 3, 4) AND main IS NULL;
-- How far the changes of these repositories are known: JSON.
CREATE TABLE followed(repository TEXT PRIMARY KEY, place TEXT NOT NULL) STRICT, WITHOUT ROWID;
DROP TRIGGER memory_deleted;
CREATE TRIGGER memory_deleted AFTER DELETE ON memory WHEN old.main IS NULL AND old.shared != 4
BEGIN
    INSERT OR REPLACE INTO deleted VALUES(old.id, old.updated, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
",
    "
-- Where a worktree was last seen, and when its git dir was made, ns since the epoch: git uses the name of a removed one again.
ALTER TABLE worktree ADD COLUMN root TEXT;
ALTER TABLE worktree ADD COLUMN made_ns INTEGER;
",
    "
-- What a verb last wrote to a file of a worktree, until somebody else changes that. A backup that is restored undoes this alone.
CREATE TABLE written_file(
    worktree INTEGER NOT NULL REFERENCES worktree(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    hash BLOB,                                   -- as in memory_file; NULL: it removed the file
    PRIMARY KEY(worktree, name)
) STRICT, WITHOUT ROWID;
",
    "
-- Comments and unknown keys of the file of which `version` is the hash, as lines; NULL: not known. They stay without the file.
ALTER TABLE memory ADD COLUMN remarks TEXT;
",
];
