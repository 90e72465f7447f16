-- What a role may see is found once a statement, not once for each repository.
CREATE OR REPLACE FUNCTION memod.visible() RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH own AS MATERIALIZED (
        SELECT DISTINCT m.repository FROM memod.member m JOIN pg_roles r ON r.rolname = m.role
        WHERE pg_has_role(session_user, r.oid, 'usage'))
    SELECT r.name FROM memod.repository r JOIN own ON own.repository = r.name
    UNION
    SELECT r.name FROM memod.repository r JOIN own
        ON right(own.repository, 1) = '*' AND starts_with(r.name, left(own.repository, -1))
$$;
ALTER POLICY visible ON memod.repository USING (name IN (SELECT memod.visible()));
ALTER POLICY visible ON memod.version USING (repository IN (SELECT memod.visible()));
ALTER POLICY visible ON memod.memory USING (repository IN (SELECT memod.visible()));
-- A program that knows the tables as of this version can do with them.
ALTER TABLE memod.schema_version ADD COLUMN needs integer NOT NULL DEFAULT 2;
UPDATE memod.schema_version SET version = 3;
