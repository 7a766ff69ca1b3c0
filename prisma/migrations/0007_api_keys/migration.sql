-- API keys: what agents and org administration by program call with, and what rooms make of agents.

----------------------------------------------------------------------------------------------------------------- keys

-- A key of an agent, or an org's admin key (no agent). Shown once; kept are its prefix, by which it is found, and the
-- HMAC of its secret under a pepper that the database does not have. Live: neither revoked nor rotated; a rotated key
-- may go on until its expires_at. Rows stay for ever.
CREATE TABLE identity.api_keys (
  org_id uuid NOT NULL CONSTRAINT api_keys_org_fkey REFERENCES identity.orgs (id) ON DELETE RESTRICT,
  id platform.uuid7 NOT NULL,
  agent_id uuid,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 64),
  mode text NOT NULL DEFAULT 'live' CHECK (mode IN ('live', 'test')), -- recorded, not enforced
  prefix text NOT NULL CONSTRAINT api_keys_prefix_key UNIQUE CHECK (prefix ~ '^[A-Za-z0-9]{8}$'),
  secret_hash bytea NOT NULL CHECK (octet_length(secret_hash) = 32),
  pepper_id smallint NOT NULL, -- of the secrets that the operator holds, the one it was hashed with
  scopes text[] NOT NULL,
  expires_at timestamptz,
  rotated_at timestamptz,
  replaced_by uuid,
  revoked_at timestamptz,
  revoked_by uuid CONSTRAINT api_keys_revoked_by_fkey REFERENCES identity.users (id) ON DELETE SET NULL,
  created_by uuid CONSTRAINT api_keys_created_by_fkey REFERENCES identity.users (id) ON DELETE SET NULL,
  created_by_key uuid, -- the admin key that made it; a value, like the actors of audit events
  last_used_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, id),
  CONSTRAINT api_keys_agent_fkey FOREIGN KEY (org_id, agent_id)
    REFERENCES identity.agents (org_id, id) ON DELETE RESTRICT,
  -- Deferred: the old key gives up its name before the new one takes it.
  CONSTRAINT api_keys_replaced_by_fkey FOREIGN KEY (org_id, replaced_by)
    REFERENCES identity.api_keys (org_id, id) DEFERRABLE INITIALLY DEFERRED,
  CONSTRAINT api_keys_scopes_check CHECK (CASE WHEN agent_id IS NULL THEN scopes = '{admin}'
    ELSE cardinality(scopes) >= 1 AND array_position(scopes, NULL) IS NULL
      AND scopes <@ '{gate:act,gate:read,work:read,work:write,rooms:read,rooms:write}' END),
  -- What was rotated has a successor and an end.
  CONSTRAINT api_keys_rotated_check CHECK ((rotated_at IS NULL) = (replaced_by IS NULL)
    AND (rotated_at IS NULL OR expires_at IS NOT NULL)),
  CONSTRAINT api_keys_revoked_check CHECK (revoked_by IS NULL OR revoked_at IS NOT NULL)
);

-- One live key of a name for an agent, and one live admin key of a name; also finds the live keys of an agent.
CREATE UNIQUE INDEX api_keys_name_key ON identity.api_keys (org_id, agent_id, name) NULLS NOT DISTINCT
  WHERE revoked_at IS NULL AND rotated_at IS NULL;
-- The list, newest first.
CREATE INDEX api_keys_newest_idx ON identity.api_keys (org_id, created_at DESC, id DESC);
-- All keys of an agent, ended ones too, newest first.
CREATE INDEX api_keys_of_agent_idx ON identity.api_keys (org_id, agent_id, created_at DESC, id DESC);
-- Serve foreign keys alone.
CREATE INDEX api_keys_replaced_by_idx ON identity.api_keys (org_id, replaced_by) WHERE replaced_by IS NOT NULL;
CREATE INDEX api_keys_revoked_by_idx ON identity.api_keys (revoked_by) WHERE revoked_by IS NOT NULL;
CREATE INDEX api_keys_created_by_idx ON identity.api_keys (created_by) WHERE created_by IS NOT NULL;

ALTER TABLE identity.api_keys ENABLE ROW LEVEL SECURITY;

-- Rows of the operation's org only, read and written.
CREATE POLICY tenant ON identity.api_keys FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));

-- A guest of a room learns nothing of the org's keys.
CREATE POLICY guest_none ON identity.api_keys AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);

-- The app writes the hash and never reads it; a key is never deleted, and what it is good for never changes.
GRANT SELECT (org_id, id, agent_id, name, mode, prefix, pepper_id, scopes, expires_at, rotated_at, replaced_by,
  revoked_at, revoked_by, created_by, created_by_key, last_used_at, created_at), INSERT ON identity.api_keys TO moothall_app;
GRANT UPDATE (expires_at, rotated_at, replaced_by, revoked_at, revoked_by, last_used_at)
  ON identity.api_keys TO moothall_app;

--------------------------------------------------------------------------------------------------------------- guards

-- MH011: at most 10 live keys of an agent, and 10 live admin keys of an org. The agent's row, or the org's, is locked
-- and the keys are counted after: of two new keys the second waits and counts the first. MH009: an agent of this org
-- that is no system agent, which takes no keys (ID-43).
CREATE FUNCTION identity.api_key_bound() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF NEW.agent_id IS NULL THEN
    PERFORM FROM identity.orgs WHERE id = NEW.org_id FOR NO KEY UPDATE;
  ELSE
    PERFORM FROM identity.agents WHERE org_id = NEW.org_id AND id = NEW.agent_id AND kind = 'agent' FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      RAISE EXCEPTION USING ERRCODE = 'MH009', MESSAGE = 'no agent of this org that takes keys',
        SCHEMA = 'identity', TABLE = 'api_keys', COLUMN = 'agent_id', CONSTRAINT = TG_NAME;
    END IF;
  END IF;
  IF (SELECT count(*) FROM identity.api_keys WHERE org_id = NEW.org_id AND agent_id IS NOT DISTINCT FROM NEW.agent_id
      AND revoked_at IS NULL AND rotated_at IS NULL) >= 10
  THEN
    RAISE EXCEPTION USING ERRCODE = 'MH011', MESSAGE = 'at most 10 live keys',
      SCHEMA = 'identity', TABLE = 'api_keys', CONSTRAINT = 'api_key_bound';
  END IF;
  RETURN NEW;
END
$$;

-- A key is counted when it is made: none becomes live later.
CREATE TRIGGER api_key_bound BEFORE INSERT ON identity.api_keys
  FOR EACH ROW EXECUTE FUNCTION identity.api_key_bound();

-- MH008: nothing turns a revoked or rotated key live again, or gives it another successor.
CREATE TRIGGER api_key_ended BEFORE UPDATE OF rotated_at, replaced_by, revoked_at ON identity.api_keys
  FOR EACH ROW EXECUTE FUNCTION platform.set_once('rotated_at', 'replaced_by', 'revoked_at');

CREATE FUNCTION identity.api_key_expiry() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RAISE EXCEPTION USING ERRCODE = 'MH008', MESSAGE = 'a key never lasts longer than it was to',
    SCHEMA = 'identity', TABLE = 'api_keys', COLUMN = 'expires_at', CONSTRAINT = TG_NAME;
END
$$;

-- MH008: a key's end only ever comes nearer.
CREATE TRIGGER api_key_expiry BEFORE UPDATE OF expires_at ON identity.api_keys
  FOR EACH ROW WHEN (OLD.expires_at IS NOT NULL AND (NEW.expires_at IS NULL OR NEW.expires_at > OLD.expires_at))
  EXECUTE FUNCTION identity.api_key_expiry();

-- A key that was revoked or rotated, or ends earlier, is told to every process as it commits (PLAT-26).
CREATE FUNCTION identity.announce_api_key() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM platform.notify_identity('key', NEW.id, CASE WHEN NEW.revoked_at IS NOT NULL THEN 'revoked'
    WHEN NEW.rotated_at IS NOT NULL THEN 'rolled' ELSE 'changed' END, NEW.org_id, NEW.prefix);
  RETURN NULL;
END
$$;

-- Not of its use.
CREATE TRIGGER announce AFTER UPDATE OF rotated_at, revoked_at, expires_at ON identity.api_keys
  FOR EACH ROW EXECUTE FUNCTION identity.announce_api_key();

------------------------------------------------------------------------------------------------- before the org is known

-- A key by its prefix, its agent, and its org: all that decides whether and how far it reaches, in one trip (ID-51).
-- `ends_in` is how many milliseconds it has left by this clock, null when it has no end.
CREATE FUNCTION identity.preauth_api_key(p_prefix text)
RETURNS TABLE (key_id uuid, org_id uuid, agent_id uuid, name text, mode text, secret_hash bytea, pepper_id smallint,
  scopes text[], expires_at timestamptz, rotated_at timestamptz, revoked_at timestamptz, ends_in double precision,
  agent_name text, agent_kind text, agent_status text, agent_mode text, project_scope text, can_edit_global_wiki boolean,
  rate_limit_per_minute integer, intent_mode text, intent_keys jsonb,
  org_slug text, org_status text, stopped_at timestamptz, api_version text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN QUERY
    SELECT k.id::uuid, k.org_id, k.agent_id, k.name, k.mode, k.secret_hash, k.pepper_id,
      k.scopes, k.expires_at, k.rotated_at, k.revoked_at,
      (extract(epoch FROM k.expires_at - clock_timestamp()) * 1000)::double precision,
      a.name, a.kind, a.status, a.mode, a.project_scope, a.can_edit_global_wiki,
      a.rate_limit_per_minute, a.intent_mode, a.intent_keys,
      o.slug, o.status, o.stopped_at, o.api_version
    FROM identity.api_keys AS k
    JOIN identity.orgs AS o ON o.id = k.org_id
    LEFT JOIN identity.agents AS a ON a.org_id = k.org_id AND a.id = k.agent_id
    WHERE k.prefix = p_prefix;
END
$$;

-- The same of keys by their orgs and ids, without the hash: one statement for all streams of a process (PLAT-33). A key that
-- is missing from the answer holds no longer.
CREATE FUNCTION identity.preauth_key_standings(p_orgs uuid[], p_keys uuid[])
RETURNS TABLE (key_id uuid, org_id uuid, agent_id uuid, scopes text[], expires_at timestamptz,
  agent_name text, agent_status text, agent_mode text, project_scope text, can_edit_global_wiki boolean,
  rate_limit_per_minute integer, org_status text, stopped_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN QUERY
    SELECT k.id::uuid, k.org_id, k.agent_id, k.scopes, k.expires_at,
      a.name, a.status, a.mode, a.project_scope, a.can_edit_global_wiki,
      a.rate_limit_per_minute, o.status, o.stopped_at
    FROM unnest(p_orgs, p_keys) AS asked (org_id, key_id)
    JOIN identity.api_keys AS k ON k.org_id = asked.org_id AND k.id = asked.key_id
    JOIN identity.orgs AS o ON o.id = k.org_id AND o.status IN ('active', 'archived')
    LEFT JOIN identity.agents AS a ON a.org_id = k.org_id AND a.id = k.agent_id
    WHERE k.revoked_at IS NULL
      AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp());
END
$$;

-- Which peppers keys that hold, in whichever org, were hashed with: none of them may be dropped (ID-56).
CREATE FUNCTION identity.maint_key_peppers() RETURNS SETOF smallint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT DISTINCT pepper_id FROM identity.api_keys
  WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp())
$$;

GRANT EXECUTE ON FUNCTION identity.preauth_api_key(text), identity.preauth_key_standings(uuid[], uuid[]),
  identity.maint_key_peppers() TO moothall_app;

------------------------------------------------------------------------------------------------ agents in rooms (ROOM-22)

-- Everybody a room is for: members of its space with standing, and guests that a link let in, also once their time is
-- over, since their votes stay. Runs with its caller's rights; called by functions of rooms alone.
--   spectator   an org's viewers always are (ROOM-22)
--   sees        may see the room now; a guest whose link ran out or was revoked may not, nor an agent that is suspended
--               or stopped
--   can_vote    sees, is no spectator, and is no agent in mode `read`
-- It costs what its space costs, whatever the planner believes of the org: the room's space is looked up before its
-- members are, and OFFSET 0 has each member's account looked up by key. It is inlined where it is called, so no argument
-- may be a sub-select.
CREATE OR REPLACE FUNCTION rooms.room_circle(p_org uuid, p_room uuid)
RETURNS TABLE (user_id uuid, kind text, spectator boolean, sees boolean, can_vote boolean)
LANGUAGE sql STABLE ROWS 20
BEGIN ATOMIC
  SELECT m.user_id, 'member'::text, m.spectator OR account.viewer, account.alive,
    account.casts AND NOT (m.spectator OR account.viewer)
  FROM rooms.space_members m
  CROSS JOIN LATERAL (
    SELECT coalesce(ms.role = 'viewer', false) AS viewer, coalesce(a.status = 'active', true) AS alive,
      coalesce(a.status = 'active' AND a.mode = 'write', true) AS casts
    FROM identity.users u
    LEFT JOIN identity.memberships ms
      ON ms.org_id = p_org AND ms.user_id = u.id AND ms.joined_at IS NOT NULL AND ms.revoked_at IS NULL
    LEFT JOIN identity.agents a ON a.org_id = p_org AND a.id = u.id
    WHERE u.id = m.user_id AND u.status = 'active' AND (ms.user_id IS NOT NULL OR u.home_org_id = p_org)
    OFFSET 0
  ) AS account
  WHERE m.org_id = p_org
    AND m.space_id = (SELECT r.space_id FROM rooms.rooms r WHERE r.org_id = p_org AND r.id = p_room)
UNION ALL
  SELECT g.user_id, 'guest'::text, false, account.alive, account.alive
  FROM rooms.room_guests g
  CROSS JOIN LATERAL (
    SELECT g.expires_at > statement_timestamp() AND l.revoked_at IS NULL AND u.status = 'active' AS alive
    FROM rooms.room_links l, identity.users u
    WHERE l.org_id = p_org AND l.id = g.link_id AND u.id = g.user_id
    OFFSET 0
  ) AS account
  WHERE g.org_id = p_org AND g.room_id = p_room;
END;
