-- Requests that may be sent again without taking effect again, and which keys the sealed values of all tables still need.

----------------------------------------------------------------------------------------------------- idempotency_keys

-- One request under its client's key: who claimed it, which of its fields have committed, and in the end its answer,
-- sealed, since it may hold what is shown once. Its actor is a user, an agent or an admin key. Nothing refers to it and it
-- refers to nothing: within a day it is gone.
CREATE TABLE platform.idempotency_keys (
  org_id uuid NOT NULL,
  actor_id uuid NOT NULL,
  key text NOT NULL CHECK (key ~ '^[\x21-\x7e]{1,128}$'),
  fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
  state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done', 'lost')),
  locked_by uuid NOT NULL, -- the one run that may still commit under the key; a later claim puts its own here
  locked_until timestamptz NOT NULL,
  committed_fields text[] NOT NULL DEFAULT '{}', -- response names
  status_code smallint CHECK (status_code BETWEEN 100 AND 599),
  response_envelope bytea CHECK (octet_length(response_envelope) <= 1048576),
  response_headers jsonb CHECK (jsonb_typeof(response_headers) = 'object'),
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, actor_id, key),
  CONSTRAINT idempotency_keys_done_check CHECK (
    (state = 'done') = (response_envelope IS NOT NULL)
    AND (response_envelope IS NULL) = (status_code IS NULL)
    AND (response_envelope IS NULL) = (response_headers IS NULL))
);

-- The sweep, oldest first.
CREATE INDEX idempotency_keys_expires_idx ON platform.idempotency_keys (expires_at);

ALTER TABLE platform.idempotency_keys ENABLE ROW LEVEL SECURITY;

-- Rows of the operation's org, and where somebody acts, guests included, their own: a key says nothing to anybody else.
CREATE POLICY tenant ON platform.idempotency_keys FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid)
    AND ((SELECT nullif(current_setting('moothall.user_id', true), '')::uuid) IS NULL
      OR actor_id = (SELECT nullif(current_setting('moothall.user_id', true), '')::uuid)))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid)
    AND ((SELECT nullif(current_setting('moothall.user_id', true), '')::uuid) IS NULL
      OR actor_id = (SELECT nullif(current_setting('moothall.user_id', true), '')::uuid)));

-- A row is used again once it has expired; whose it is and under which key stays.
GRANT SELECT, INSERT, UPDATE (fingerprint, state, locked_by, locked_until, committed_fields, status_code,
  response_envelope, response_headers, created_at, expires_at) ON platform.idempotency_keys TO moothall_app;

-- Removes what has expired, oldest first; a run that is still going on keeps its row, which bars it from running twice.
CREATE FUNCTION platform.maint_prune_idempotency(p_limit integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  gone integer;
BEGIN
  DELETE FROM platform.idempotency_keys WHERE (org_id, actor_id, key) IN (
    SELECT org_id, actor_id, key FROM platform.idempotency_keys
    WHERE expires_at <= now() AND (state <> 'running' OR locked_until <= now())
    ORDER BY expires_at
    LIMIT least(greatest(p_limit, 0), 100000)
    FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS gone = ROW_COUNT;
  RETURN gone;
END
$$;

--------------------------------------------------------------------------------------------------------- sealed values

-- The ids of the keys that wrapped what is sealed in any row of any org, read from the bytes themselves: a version, the
-- id's length, the id. Columns of envelopes are told by their name, so those of later tables are found too. Asked at
-- start: a server that lacks one of these keys does not serve (PLAT-72).
CREATE FUNCTION platform.maint_sealing_keys() RETURNS TABLE (key_id text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  sealed record;
BEGIN
  FOR sealed IN
    SELECT n.nspname, c.relname, a.attname
    FROM pg_attribute AS a
    JOIN pg_class AS c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
      AND n.nspname IN ('identity', 'rooms', 'work', 'gate', 'plugins', 'platform')
    WHERE a.attname LIKE '%\_envelope' AND a.atttypid = 'bytea'::regtype AND NOT a.attisdropped
  LOOP
    RETURN QUERY EXECUTE format(
      'SELECT DISTINCT encode(substring(%1$I FROM 3 FOR get_byte(%1$I, 1)), ''escape'') FROM %2$I.%3$I
         WHERE octet_length(%1$I) > 2',
      sealed.attname, sealed.nspname, sealed.relname);
  END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION platform.maint_prune_idempotency(integer), platform.maint_sealing_keys() TO moothall_app;
