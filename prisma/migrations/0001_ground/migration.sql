-- The ground that every body stands on: schemas, who may enter them, ids, and the trigger functions that tables share.
-- Two roles exist before the first migration: moothall_owner runs this file and owns what it makes; moothall_app is what
-- the server connects as, and owns nothing.

-- A function is callable only by whom it is granted to; without this every new function would be open to PUBLIC.
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;

CREATE SCHEMA IF NOT EXISTS platform; -- the migration runner keeps its record here and may have made it already
CREATE SCHEMA identity;
CREATE SCHEMA rooms;
CREATE SCHEMA work;
CREATE SCHEMA gate;
CREATE SCHEMA plugins;

REVOKE ALL ON SCHEMA identity, rooms, work, gate, plugins, platform FROM PUBLIC;
GRANT USAGE ON SCHEMA identity, rooms, work, gate, plugins, platform TO moothall_app;

------------------------------------------------------------------------------------------------------------------ ids

-- An id is a UUIDv7: 7 stands at text position 15, the variant at 20. Text positions, because servers 16 and 17 have
-- no function that tells a UUID's version.
CREATE DOMAIN platform.uuid7 AS uuid
  CONSTRAINT uuid7_version CHECK (substr(VALUE::text, 15, 1) = '7' AND substr(VALUE::text, 20, 1) IN ('8', '9', 'a', 'b'));

-- The layout of PostgreSQL 18's uuidv7() for older servers: 48 bits of milliseconds, the version, 12 bits of the
-- millisecond's fraction, the variant and 62 random bits, the last two taken from a random UUID.
CREATE FUNCTION platform.new_id_from_clock() RETURNS uuid
LANGUAGE sql VOLATILE
BEGIN ATOMIC
  SELECT encode(
           overlay(uuid_send(gen_random_uuid())
             PLACING int8send((us / 1000 << 16) | x'7000'::bigint | ((us % 1000) * 4096 / 1000)) FROM 1 FOR 8),
           'hex')::uuid
  FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS us) AS clock;
END;

-- The default of every id column. Which form it has is settled once, by the server that the schema is made on.
DO $$
BEGIN
  IF current_setting('server_version_num')::int >= 180000 THEN
    CREATE FUNCTION platform.new_id() RETURNS uuid LANGUAGE sql VOLATILE RETURN uuidv7();
  ELSE
    CREATE FUNCTION platform.new_id() RETURNS uuid LANGUAGE sql VOLATILE RETURN platform.new_id_from_clock();
  END IF;
END
$$;

GRANT EXECUTE ON FUNCTION platform.new_id(), platform.new_id_from_clock() TO moothall_app;

--------------------------------------------------------------------------------------------- what a row may not become

-- MH001: history is not rewritten, by the owner as little as by the app. A table attaches it twice: BEFORE UPDATE OR
-- DELETE FOR EACH ROW and BEFORE TRUNCATE FOR EACH STATEMENT. The mode is the first argument:
--   never   nothing passes
--   purge   a row goes while its org is being purged, which is a fact in a table and no setting that a caller could set
--   prune   a row goes wherever a grant lets it, and one retention function alone has that grant
CREATE FUNCTION platform.append_only() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF TG_OP = 'DELETE' AND TG_ARGV[0] = 'prune' THEN
    RETURN OLD;
  END IF;
  IF TG_OP = 'DELETE' AND TG_ARGV[0] = 'purge' THEN
    PERFORM FROM identity.orgs WHERE id = OLD.org_id AND status = 'purging';
    IF FOUND THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION USING ERRCODE = 'MH001', MESSAGE = 'append-only',
    SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
END
$$;

-- MH008: a column named in the arguments keeps the first value it is given. Attach as BEFORE UPDATE OF those columns.
CREATE FUNCTION platform.set_once() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  before CONSTANT jsonb := to_jsonb(OLD);
  after CONSTANT jsonb := to_jsonb(NEW);
  col text;
BEGIN
  FOREACH col IN ARRAY TG_ARGV LOOP
    IF before -> col <> 'null' AND before -> col IS DISTINCT FROM after -> col THEN
      RAISE EXCEPTION USING ERRCODE = 'MH008', MESSAGE = 'set once',
        SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, COLUMN = col, CONSTRAINT = TG_NAME;
    END IF;
  END LOOP;
  RETURN NEW;
END
$$;

-- Keeps updated_at, which nobody is granted to write. Attach as BEFORE UPDATE.
CREATE FUNCTION platform.touch() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  NEW.updated_at := now();
  RETURN NEW;
END
$$;

--------------------------------------------------------------------------------------------------------- live channels

-- The one sender on channel moothall_identity (PLAT-26): who or what changed standing, as ids and a state. A hint and
-- no more: every receiver reads again under its own rights.
CREATE FUNCTION platform.notify_identity(
  p_type text, p_id uuid, p_state text, p_org uuid DEFAULT NULL, p_prefix text DEFAULT NULL
) RETURNS void
LANGUAGE sql VOLATILE
BEGIN ATOMIC
  SELECT pg_notify('moothall_identity', jsonb_strip_nulls(jsonb_build_object(
    'v', 1, 't', p_type, 'org', p_org, 'id', p_id, 'p', p_prefix, 's', p_state))::text);
END;

GRANT EXECUTE ON FUNCTION platform.notify_identity(text, uuid, text, uuid, text) TO moothall_app;
