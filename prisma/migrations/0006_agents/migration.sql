-- Agents: users that act through keys instead of signing in, how far they reach, and what their signed intents are
-- checked against.

--------------------------------------------------------------------------------------------------------------- values

-- Up to two keys that an agent's intents may be signed with: objects of exactly these four strings, no kid twice.
-- Whether the bytes are a key that can be trusted, the server says before each use: it takes no row's word for it.
CREATE FUNCTION identity.intent_keys_valid(p_keys jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
  SELECT CASE WHEN jsonb_typeof(p_keys) = 'array' AND jsonb_array_length(p_keys) <= 2 THEN (
    SELECT coalesce(bool_and(CASE WHEN jsonb_typeof(key) = 'object' THEN
        key - ARRAY['kid', 'public_key', 'created_at', 'created_by'] = '{}'
        AND coalesce(jsonb_typeof(key -> 'kid') = 'string' AND key ->> 'kid' ~ '^[0-9a-f]{32}$', false)
        AND coalesce(jsonb_typeof(key -> 'public_key') = 'string'
          AND key ->> 'public_key' ~ '^ed25519:[A-Za-z0-9_-]{43}$', false)
        AND coalesce(jsonb_typeof(key -> 'created_at') = 'string', false)
        AND coalesce(jsonb_typeof(key -> 'created_by') = 'string', false)
      ELSE false END), true)
      AND count(DISTINCT key ->> 'kid') = count(*)
    FROM jsonb_array_elements(p_keys) AS key)
  ELSE false END
$$;

-- Up to 32 pairs of strings that admins sort agents by and policies ask for.
CREATE FUNCTION identity.labels_valid(p_labels jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
  SELECT CASE WHEN jsonb_typeof(p_labels) = 'object' THEN (
    SELECT count(*) <= 32 AND coalesce(bool_and(
      char_length(name) BETWEEN 1 AND 64 AND jsonb_typeof(value) = 'string' AND char_length(value #>> '{}') <= 256), true)
    FROM jsonb_each(p_labels) AS label (name, value))
  ELSE false END
$$;

-- CHECK constraints call them as whoever writes the row.
GRANT EXECUTE ON FUNCTION identity.intent_keys_valid(jsonb), identity.labels_valid(jsonb) TO moothall_app;

--------------------------------------------------------------------------------------------------------------- agents

-- An agent of one org; its id is that of its user. Name and kind are fixed for ever. The one system agent, console, is
-- made by the gate at first use; it is neither stopped nor given keys.
CREATE TABLE identity.agents (
  org_id uuid NOT NULL CONSTRAINT agents_org_fkey REFERENCES identity.orgs (id) ON DELETE RESTRICT,
  id platform.uuid7 NOT NULL CONSTRAINT agents_id_key UNIQUE
    CONSTRAINT agents_user_fkey REFERENCES identity.users (id) ON DELETE CASCADE,
  name text NOT NULL CHECK (name ~ '^[a-z][a-z0-9-]{1,31}$'),
  kind text NOT NULL DEFAULT 'agent' CHECK (kind IN ('agent', 'system')),
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended', 'stopped')),
  status_reason text CHECK (char_length(status_reason) <= 280),
  status_changed_at timestamptz,
  mode text NOT NULL DEFAULT 'read' CHECK (mode IN ('read', 'write')),
  project_scope text NOT NULL DEFAULT 'listed' CHECK (project_scope IN ('all', 'listed')), -- listed: agent_projects
  can_edit_global_wiki boolean NOT NULL DEFAULT false,
  rate_limit_per_minute integer CHECK (rate_limit_per_minute BETWEEN 1 AND 100000), -- null: the server's own
  labels jsonb NOT NULL DEFAULT '{}' CONSTRAINT agents_labels_check CHECK (identity.labels_valid(labels)),
  budgets jsonb CONSTRAINT agents_budgets_check -- what they mean is the gate's to say
    CHECK (jsonb_typeof(budgets) = 'array' AND octet_length(budgets::text) <= 16384),
  intent_mode text NOT NULL DEFAULT 'off' CHECK (intent_mode IN ('off', 'optional', 'required')),
  intent_keys jsonb NOT NULL DEFAULT '[]'
    CONSTRAINT agents_intent_keys_check CHECK (identity.intent_keys_valid(intent_keys)),
  created_by uuid CONSTRAINT agents_created_by_fkey REFERENCES identity.users (id) ON DELETE SET NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, id),
  CONSTRAINT agents_name_key UNIQUE (org_id, name),
  CONSTRAINT agents_status_changed_check CHECK (status = 'active' OR status_changed_at IS NOT NULL),
  CONSTRAINT agents_console_check CHECK ((kind = 'system') = (name = 'console')),
  CONSTRAINT agents_system_check CHECK (kind <> 'system' OR (status = 'active' AND intent_keys = '[]'))
);

-- One system agent an org.
CREATE UNIQUE INDEX agents_system_key ON identity.agents (org_id) WHERE kind = 'system';
-- The list, newest first.
CREATE INDEX agents_newest_idx ON identity.agents (org_id, created_at DESC, id DESC);
-- Serves its SET NULL alone.
CREATE INDEX agents_created_by_idx ON identity.agents (created_by) WHERE created_by IS NOT NULL;

-- The projects that an agent of scope 'listed' reaches: these rows and no others, so no row is no project (ID-45). The
-- foreign key of project_id, to work.projects with ON DELETE CASCADE, comes with that table.
CREATE TABLE identity.agent_projects (
  org_id uuid NOT NULL,
  agent_id uuid NOT NULL,
  project_id uuid NOT NULL,
  added_by uuid CONSTRAINT agent_projects_added_by_fkey REFERENCES identity.users (id) ON DELETE SET NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, agent_id, project_id),
  CONSTRAINT agent_projects_agent_fkey FOREIGN KEY (org_id, agent_id)
    REFERENCES identity.agents (org_id, id) ON DELETE CASCADE
);

-- Which agents a project is listed for; the cascade of its deletion.
CREATE INDEX agent_projects_project_idx ON identity.agent_projects (org_id, project_id);
-- Serves its SET NULL alone.
CREATE INDEX agent_projects_added_by_idx ON identity.agent_projects (added_by) WHERE added_by IS NOT NULL;

-- Intents that were used: the primary key lets exactly one of many simultaneous uses in. Never the intent itself.
CREATE TABLE identity.intent_nonces (
  org_id uuid NOT NULL,
  agent_id uuid NOT NULL,
  nonce text NOT NULL CHECK (nonce ~ '^[A-Za-z0-9_-]{16,64}$'),
  intent_hash bytea NOT NULL CHECK (octet_length(intent_hash) = 32),
  expires_at timestamptz NOT NULL, -- the intent's own end
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, agent_id, nonce),
  CONSTRAINT intent_nonces_agent_fkey FOREIGN KEY (org_id, agent_id)
    REFERENCES identity.agents (org_id, id) ON DELETE CASCADE
);

-- The sweep, oldest first.
CREATE INDEX intent_nonces_expires_idx ON identity.intent_nonces (expires_at);

--------------------------------------------------------------------------------------------------------- row security

ALTER TABLE identity.agents ENABLE ROW LEVEL SECURITY;
ALTER TABLE identity.agent_projects ENABLE ROW LEVEL SECURITY;
ALTER TABLE identity.intent_nonces ENABLE ROW LEVEL SECURITY;

-- Rows of the operation's org only, read and written.
CREATE POLICY tenant ON identity.agents FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
CREATE POLICY tenant ON identity.agent_projects FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
CREATE POLICY tenant ON identity.intent_nonces FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));

-- A guest of a room learns nothing of the org's agents.
CREATE POLICY guest_none ON identity.agents AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);
CREATE POLICY guest_none ON identity.agent_projects AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);
CREATE POLICY guest_none ON identity.intent_nonces AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);

--------------------------------------------------------------------------------------------------------------- grants

-- An agent is never deleted, and keeps its name and kind.
GRANT SELECT, INSERT ON identity.agents TO moothall_app;
GRANT UPDATE (status, status_reason, status_changed_at, mode, project_scope, can_edit_global_wiki,
  rate_limit_per_minute, labels, budgets, intent_mode, intent_keys) ON identity.agents TO moothall_app;

GRANT SELECT, INSERT, DELETE ON identity.agent_projects TO moothall_app;

-- What was used stays used until the sweep.
GRANT SELECT, INSERT ON identity.intent_nonces TO moothall_app;

--------------------------------------------------------------------------------------------------------------- guards

-- MH009: an agent is an agent's account at home in the org.
CREATE FUNCTION identity.agent_account_guard() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM FROM identity.users WHERE id = NEW.id AND account = 'agent' AND home_org_id = NEW.org_id;
  IF FOUND THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION USING ERRCODE = 'MH009', MESSAGE = 'no agent of this org',
    SCHEMA = 'identity', TABLE = 'agents', COLUMN = 'id', CONSTRAINT = TG_NAME;
END
$$;

-- So no person, and no agent of another org, gets a second row.
CREATE TRIGGER agents_account_guard BEFORE INSERT ON identity.agents
  FOR EACH ROW EXECUTE FUNCTION identity.agent_account_guard();

-- Usernames and the names of agents are one namespace, revoked members and stopped agents included (ID-40).
CREATE OR REPLACE FUNCTION identity.handle_taken(p_org uuid, p_handle text, p_user uuid) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT EXISTS (SELECT FROM identity.memberships WHERE org_id = p_org AND username = p_handle AND user_id <> p_user)
      OR EXISTS (SELECT FROM identity.agents WHERE org_id = p_org AND name = p_handle AND id <> p_user)
$$;

-- Of every new agent; reserved names too are refused, plugins' principals until their migration lets them in.
CREATE TRIGGER handle_born BEFORE INSERT ON identity.agents
  FOR EACH ROW WHEN (NEW.kind <> 'system') EXECUTE FUNCTION identity.handle_guard('name', 'id');
-- The system agent's name is a reserved one, held to it by a CHECK.
CREATE TRIGGER handle_born_system BEFORE INSERT ON identity.agents
  FOR EACH ROW WHEN (NEW.kind = 'system') EXECUTE FUNCTION identity.handle_guard('name', 'id', 'reserved');

-- MH011: at most 500 agents an org, the system's not counted. Triggers fire in the order of their names, so it counts
-- behind handle_born, whose lock lets one new agent of an org in at a time; under READ COMMITTED the count sees all that
-- were committed before.
CREATE FUNCTION identity.agents_bound() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF (SELECT count(*) FROM identity.agents WHERE org_id = NEW.org_id AND kind = 'agent') >= 500 THEN
    RAISE EXCEPTION USING ERRCODE = 'MH011', MESSAGE = 'at most 500 agents an org',
      SCHEMA = 'identity', TABLE = 'agents', CONSTRAINT = 'agents_bound';
  END IF;
  RETURN NEW;
END
$$;

-- Agents are for ever, so they are counted when they are made.
CREATE TRIGGER number_bound BEFORE INSERT ON identity.agents
  FOR EACH ROW WHEN (NEW.kind = 'agent') EXECUTE FUNCTION identity.agents_bound();

-- MH010: active and suspended change places, everything stops, and what stopped becomes active again, not suspended.
CREATE FUNCTION identity.agents_status_guard() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF (TG_OP = 'INSERT' AND NEW.status = 'active')
    OR (TG_OP = 'UPDATE' AND (OLD.status, NEW.status) <> ('stopped', 'suspended'))
  THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION USING ERRCODE = 'MH010', MESSAGE = 'an agent cannot change its status like that',
    SCHEMA = 'identity', TABLE = 'agents', COLUMN = 'status', CONSTRAINT = TG_NAME;
END
$$;

-- Every agent begins as active.
CREATE TRIGGER agents_status_born BEFORE INSERT ON identity.agents
  FOR EACH ROW EXECUTE FUNCTION identity.agents_status_guard();
-- And moves along legal edges only.
CREATE TRIGGER agents_status_guard BEFORE UPDATE OF status ON identity.agents
  FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION identity.agents_status_guard();

-- Keeps updated_at.
CREATE TRIGGER touch BEFORE UPDATE ON identity.agents FOR EACH ROW EXECUTE FUNCTION platform.touch();

------------------------------------------------------------------------------------------------------------ live reach

-- What an agent may do is told to every process as it commits, so that it governs the next call (ID-3, 69, PLAT-26).
CREATE FUNCTION identity.announce_agent() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM platform.notify_identity('agent', NEW.id,
    CASE WHEN OLD.status = NEW.status THEN 'changed' WHEN NEW.status = 'active' THEN 'resumed' ELSE NEW.status END,
    NEW.org_id);
  RETURN NULL;
END
$$;

CREATE FUNCTION identity.announce_agent_projects() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM platform.notify_identity('agent', changed.agent_id, 'changed', changed.org_id)
    FROM (SELECT DISTINCT org_id, agent_id FROM changed_rows) AS changed;
  RETURN NULL;
END
$$;

-- Suspended, stopped, resumed; another mode, scope, limit or key.
CREATE TRIGGER announce AFTER UPDATE ON identity.agents
  FOR EACH ROW EXECUTE FUNCTION identity.announce_agent();
-- A project listed, or no longer: its own deletion included.
CREATE TRIGGER announce_added AFTER INSERT ON identity.agent_projects
  REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION identity.announce_agent_projects();
CREATE TRIGGER announce_removed AFTER DELETE ON identity.agent_projects
  REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION identity.announce_agent_projects();

---------------------------------------------------------------------------------------------------------------- sweep

-- An intent holds until a minute after its end; its nonce stays for two, so what is pruned has ended (ID-49). Oldest
-- first; a row that another sweep holds is left to it.
CREATE FUNCTION identity.maint_prune_intent_nonces(p_limit integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  gone integer;
BEGIN
  DELETE FROM identity.intent_nonces WHERE (org_id, agent_id, nonce) IN (
    SELECT org_id, agent_id, nonce FROM identity.intent_nonces
    WHERE expires_at < now() - interval '2 minutes'
    ORDER BY expires_at
    LIMIT least(greatest(p_limit, 0), 100000)
    FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS gone = ROW_COUNT;
  RETURN gone;
END
$$;

GRANT EXECUTE ON FUNCTION identity.maint_prune_intent_nonces(integer) TO moothall_app;

---------------------------------------------------------------------------------------------------- archived orgs

-- What takes a member's reach or a key away is a matter of the org and goes on in an archived one too (ID-59): archiving
-- must not keep somebody in. All else stays as it was.
DROP TRIGGER org_guard ON platform.audit_events;
CREATE TRIGGER org_guard BEFORE INSERT ON platform.audit_events
  FOR EACH ROW WHEN (NEW.actor_kind <> 'system'
    AND NEW.event_type !~ '^((org|auth|session|user)\.|(member\.(revoked|left)|api_key\.revoked)$)')
  EXECUTE FUNCTION platform.audit_org_guard();
