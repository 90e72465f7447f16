-- The version that erases is of a client whose name no member can take first.
CREATE OR REPLACE FUNCTION memod.erase(_repository text, _id text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    _seq bigint;
BEGIN
    UPDATE memod.repository SET last_seq = last_seq + 1 WHERE name = _repository RETURNING last_seq INTO _seq;
    UPDATE memod.version SET text = '', hash = sha256('') WHERE repository = _repository AND id = _id;
    INSERT INTO memod.version(repository, seq, id, former, hash, text, client, n, author)
    VALUES(_repository, _seq, _id, sha256(''), sha256(''), '', gen_random_uuid()::text, _seq, session_user);
    UPDATE memod.memory SET seq = _seq, hash = sha256('') WHERE repository = _repository AND id = _id;
    PERFORM pg_notify('memod_' || md5(_repository), '');
END
$$;
UPDATE memod.schema_version SET version = 2;
