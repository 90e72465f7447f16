-- What a team has, in a schema of its own. Nobody but its owner writes to a table: `deliver` checks what is stored.
CREATE SCHEMA memod;
GRANT USAGE ON SCHEMA memod TO PUBLIC;
CREATE TABLE memod.schema_version(version integer NOT NULL, id text NOT NULL DEFAULT gen_random_uuid());
INSERT INTO memod.schema_version VALUES(1);
GRANT SELECT ON memod.schema_version TO PUBLIC;

-- Which roles may see and write which repositories. A repository is the address of its remote, as github.com/acme/shop; an * at
-- the end stands for any rest. A role stands for its members too.
CREATE TABLE memod.member(
    role name NOT NULL,
    repository text NOT NULL,
    may_write boolean NOT NULL DEFAULT true,
    PRIMARY KEY(role, repository)
);
INSERT INTO memod.member VALUES(current_user, '*');

CREATE TABLE memod.repository(
    name text PRIMARY KEY,
    last_seq bigint NOT NULL DEFAULT 0          -- of its versions, which have no gaps
);

-- Every version of every memory. A text is the file of a memory; empty: it is archived.
CREATE TABLE memod.version(
    repository text NOT NULL,
    seq bigint NOT NULL,
    id text NOT NULL,
    former bytea,                               -- hash of the version before
    hash bytea NOT NULL,                        -- SHA-256 of the text
    text text NOT NULL,
    client text NOT NULL, n bigint NOT NULL,    -- which database sent it, and its number there: it comes once
    author name NOT NULL,                       -- the role, not what the text says
    at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY(repository, seq),
    UNIQUE(repository, client, n)
);

-- The last version of each memory.
CREATE TABLE memod.memory(
    repository text NOT NULL,
    id text NOT NULL,
    seq bigint NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY(repository, id)
);

CREATE FUNCTION memod.may(_repository text, _write boolean) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (
        SELECT 1 FROM memod.member m JOIN pg_roles r ON r.rolname = m.role
        WHERE pg_has_role(session_user, r.oid, 'usage') AND (m.may_write OR NOT _write)
            AND (m.repository = _repository
                OR right(m.repository, 1) = '*' AND starts_with(_repository, left(m.repository, -1))))
$$;

-- Names of the repositories that the role may see.
CREATE FUNCTION memod.visible() RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT name FROM memod.repository WHERE memod.may(name, false)
$$;

ALTER TABLE memod.member ENABLE ROW LEVEL SECURITY;
ALTER TABLE memod.repository ENABLE ROW LEVEL SECURITY;
ALTER TABLE memod.version ENABLE ROW LEVEL SECURITY;
ALTER TABLE memod.memory ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON memod.member FOR SELECT USING (
    EXISTS (SELECT 1 FROM pg_roles r WHERE r.rolname = role AND pg_has_role(session_user, r.oid, 'usage')));
CREATE POLICY visible ON memod.repository FOR SELECT USING (memod.may(name, false));
CREATE POLICY visible ON memod.version FOR SELECT USING (repository = ANY (ARRAY(SELECT memod.visible())));
CREATE POLICY visible ON memod.memory FOR SELECT USING (repository = ANY (ARRAY(SELECT memod.visible())));
GRANT SELECT ON memod.member, memod.repository, memod.version, memod.memory TO PUBLIC;

-- Who may see a repository, for those who may see it themselves.
CREATE FUNCTION memod.members(_repository text) RETURNS TABLE(role name, repository text, may_write boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT m.role, m.repository, m.may_write FROM memod.member m
    WHERE memod.may(_repository, false) AND (m.repository = _repository
        OR right(m.repository, 1) = '*' AND starts_with(_repository, left(m.repository, -1)))
    ORDER BY 1, 2
$$;

-- Stores changes of one client, in order, up to the first that does not follow what is there; returns how many are stored, those
-- that were before included. Why it stopped: `changed`, somebody else has changed the memory, whose text is returned; or
-- `client`, another database has the same name.
CREATE FUNCTION memod.deliver(_repository text, _client text, _n bigint[], _id text[], _former bytea[], _text text[])
RETURNS TABLE(n_stored integer, why text, text text, author name)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '10s' AS $$
#variable_conflict use_variable
DECLARE
    _seq bigint;
    _known memod.version;
    _hash bytea;
    _new bytea;
    _last bigint;
    _owner name;
BEGIN
    IF NOT memod.may(_repository, true) THEN
        RAISE insufficient_privilege USING MESSAGE = format('role %s may not write to %s', session_user, _repository);
    END IF;
    INSERT INTO memod.repository(name) VALUES(_repository) ON CONFLICT DO NOTHING;
    -- One after the other, so that numbers are in the order in which they can be seen.
    SELECT r.last_seq INTO _seq FROM memod.repository r WHERE r.name = _repository FOR UPDATE;
    -- A name of a client is of one role, and its numbers grow: else versions could be hidden from who has that name.
    SELECT v.n, v.author INTO _last, _owner FROM memod.version v
    WHERE v.repository = _repository AND v.client = _client ORDER BY v.n DESC LIMIT 1;
    n_stored := 0;
    IF _owner <> session_user THEN
        why := 'client';
        RETURN NEXT;
        RETURN;
    END IF;
    FOR i IN 1 .. coalesce(array_length(_n, 1), 0) LOOP
        SELECT * INTO _known FROM memod.version v
        WHERE v.repository = _repository AND v.client = _client AND v.n = _n[i];
        _new := sha256(convert_to(_text[i], 'UTF8'));
        IF FOUND THEN
            IF (_known.id, _known.hash) IS DISTINCT FROM (_id[i], _new) THEN
                why := 'client';
                EXIT;
            END IF;
            n_stored := i;
            CONTINUE;
        END IF;
        IF _n[i] <= _last THEN
            why := 'client';
            EXIT;
        END IF;
        SELECT m.hash INTO _hash FROM memod.memory m WHERE m.repository = _repository AND m.id = _id[i];
        IF _hash IS DISTINCT FROM _former[i] AND _hash IS DISTINCT FROM _new THEN
            why := 'changed';
            SELECT v.text, v.author INTO text, author FROM memod.memory m
            JOIN memod.version v ON v.repository = m.repository AND v.seq = m.seq
            WHERE m.repository = _repository AND m.id = _id[i];
            EXIT;
        END IF;
        IF octet_length(_text[i]) > 65536 OR _id[i] !~ '^mem_[0-7][0-9A-Z]{25}$' THEN
            RAISE check_violation USING MESSAGE = format('%s is no memory', left(_id[i], 40));
        END IF;
        _seq := _seq + 1;
        INSERT INTO memod.version(repository, seq, id, former, hash, text, client, n, author)
        VALUES(_repository, _seq, _id[i], _hash, _new, _text[i], _client, _n[i], session_user);
        INSERT INTO memod.memory AS m(repository, id, seq, hash) VALUES(_repository, _id[i], _seq, _new)
        ON CONFLICT ON CONSTRAINT memory_pkey DO UPDATE SET seq = excluded.seq, hash = excluded.hash;
        n_stored := i;
        _last := _n[i];
    END LOOP;
    UPDATE memod.repository SET last_seq = _seq WHERE name = _repository;
    PERFORM pg_notify('memod_' || md5(_repository), '');
    RETURN NEXT;
END
$$;

-- Erases all versions of a memory, which is archived for everybody. Only the owner of the tables may.
CREATE FUNCTION memod.erase(_repository text, _id text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    _seq bigint;
BEGIN
    UPDATE memod.repository SET last_seq = last_seq + 1 WHERE name = _repository RETURNING last_seq INTO _seq;
    UPDATE memod.version SET text = '', hash = sha256('') WHERE repository = _repository AND id = _id;
    INSERT INTO memod.version(repository, seq, id, former, hash, text, client, n, author)
    VALUES(_repository, _seq, _id, sha256(''), sha256(''), '', 'erase', _seq, session_user);
    UPDATE memod.memory SET seq = _seq, hash = sha256('') WHERE repository = _repository AND id = _id;
    PERFORM pg_notify('memod_' || md5(_repository), '');
END
$$;
REVOKE EXECUTE ON FUNCTION memod.erase FROM PUBLIC;
