-- What every body records into and counts with: the instance, the one stream of facts, the counters of rate limits.

------------------------------------------------------------------------------------------------------------- instance

-- One row: this database. Global, no row security, only read by the app.
CREATE TABLE platform.instance (
  id platform.uuid7 PRIMARY KEY DEFAULT platform.new_id(),
  audit_era integer NOT NULL DEFAULT 1 CHECK (audit_era >= 1),
  created_at timestamptz NOT NULL DEFAULT now()
);

-- There is no second row.
CREATE UNIQUE INDEX instance_single_key ON platform.instance ((true));

INSERT INTO platform.instance DEFAULT VALUES;
GRANT SELECT ON platform.instance TO moothall_app;

-- The era that facts are written under; transaction ids are comparable within one era only (PLAT-18).
CREATE FUNCTION platform.audit_era() RETURNS integer
LANGUAGE sql STABLE
RETURN (SELECT audit_era FROM platform.instance);

GRANT EXECUTE ON FUNCTION platform.audit_era() TO moothall_app;

--------------------------------------------------------------------------------------------------------- audit_events

-- The one append-only log: each change of a fact, written in the transaction that makes it. No foreign keys: an id stays
-- as a value when its row is gone, and the slugs say what it was called. Readers follow (era, xact_id, id) up to the
-- oldest transaction still running, so that a slow one is never skipped.
CREATE TABLE platform.audit_events (
  org_id uuid NOT NULL,
  id platform.uuid7 NOT NULL DEFAULT platform.new_id(),
  era integer NOT NULL DEFAULT platform.audit_era(),
  xact_id xid8 NOT NULL DEFAULT pg_current_xact_id(),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  category text NOT NULL CHECK (category IN ('activity', 'audit_only')),
  event_type text NOT NULL
    CHECK (event_type ~ '^[a-z][a-z_]*(\.[a-z_]+)+$' AND char_length(event_type) <= 100),
  actor_kind text NOT NULL CHECK (actor_kind IN ('human', 'agent', 'api_key', 'system')),
  actor_user_id uuid,
  actor_key_id uuid,
  target_kind text CHECK (char_length(target_kind) BETWEEN 1 AND 64),
  target_id uuid,
  space_id uuid, -- these four are where the target was when it happened
  room_id uuid,
  project_id uuid,
  ticket_id uuid,
  private_user_id uuid, -- whose private thing the row is about: nobody else's activity shows it
  org_slug text NOT NULL DEFAULT '' CHECK (char_length(org_slug) <= 64),
  space_slug text NOT NULL DEFAULT '' CHECK (char_length(space_slug) <= 64),
  reason text CHECK (char_length(reason) <= 280),
  payload jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(payload) = 'object'),
  request_id uuid,
  tool_invocation_id uuid,
  deed_id uuid, -- the sealed deed that bears witness to the row
  durable boolean NOT NULL DEFAULT false, -- outlives the purge of its org
  deliverable boolean NOT NULL DEFAULT false, -- goes to webhooks and plugins
  PRIMARY KEY (org_id, id),
  -- A deleted comment's event alone carries body and history.
  CONSTRAINT audit_events_payload_size_check CHECK (
    octet_length(payload::text) <= CASE event_type WHEN 'comment.deleted' THEN 4194304 ELSE 16384 END),
  CONSTRAINT audit_events_actor_check CHECK (
    CASE actor_kind
      WHEN 'human' THEN actor_user_id IS NOT NULL
      WHEN 'agent' THEN actor_user_id IS NOT NULL
      WHEN 'api_key' THEN actor_key_id IS NOT NULL AND actor_user_id IS NULL
      ELSE actor_user_id IS NULL AND actor_key_id IS NULL
    END),
  CONSTRAINT audit_events_target_check CHECK ((target_kind IS NULL) = (target_id IS NULL)),
  CONSTRAINT audit_events_tool_check CHECK (tool_invocation_id IS NULL OR event_type = 'agent.tool_invoked')
);

-- The feed, in the order it is read.
CREATE INDEX audit_events_feed_idx ON platform.audit_events (org_id, era, xact_id, id);
-- The audit log, newest first.
CREATE INDEX audit_events_newest_idx ON platform.audit_events (org_id, created_at DESC, id DESC);
-- A project's activity; rows of no project too, for the feed of an org that shows one category.
CREATE INDEX audit_events_project_idx ON platform.audit_events (org_id, project_id, category, created_at DESC);
-- What happened to one ticket, in one space, in one room: most rows belong to none.
CREATE INDEX audit_events_ticket_idx ON platform.audit_events (org_id, ticket_id, created_at DESC)
  WHERE ticket_id IS NOT NULL;
CREATE INDEX audit_events_space_idx ON platform.audit_events (org_id, space_id, created_at DESC)
  WHERE space_id IS NOT NULL;
CREATE INDEX audit_events_room_idx ON platform.audit_events (org_id, room_id, created_at DESC)
  WHERE room_id IS NOT NULL;
-- The filters of the audit log: by type, by who did it, by what it was done to, by request.
CREATE INDEX audit_events_type_idx ON platform.audit_events (org_id, event_type, created_at DESC);
CREATE INDEX audit_events_actor_idx ON platform.audit_events (org_id, actor_user_id, created_at DESC);
CREATE INDEX audit_events_target_idx ON platform.audit_events (org_id, target_id);
CREATE INDEX audit_events_request_idx ON platform.audit_events (org_id, request_id);
-- The greatest transaction of an era, over all orgs.
CREATE INDEX audit_events_era_idx ON platform.audit_events (era, xact_id);

ALTER TABLE platform.audit_events ENABLE ROW LEVEL SECURITY;

-- Rows of the operation's org only, read and written.
CREATE POLICY tenant ON platform.audit_events FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- A guest reads and adds to the record of their room alone.
CREATE POLICY guest_room ON platform.audit_events AS RESTRICTIVE FOR ALL TO moothall_app
  USING (
    (SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL
    OR room_id = (SELECT nullif(current_setting('moothall.room_id', true), '')::uuid));

-- Era, transaction and time are the database's word: the app cannot write them.
GRANT SELECT, INSERT (org_id, id, category, event_type, actor_kind, actor_user_id, actor_key_id, target_kind, target_id,
  space_id, room_id, project_id, ticket_id, private_user_id, org_slug, space_slug, reason, payload, request_id,
  tool_invocation_id, deed_id, durable, deliverable)
  ON platform.audit_events TO moothall_app;

-- MH012: an org that is archived, purging or purged takes no writes. Each mutation records its event, so refusing the
-- event refuses the mutation (ID-59). What concerns the org itself and a person's own sign-in and profile goes on, and so
-- does the system's work. A row of another org is not seen here; its policy refuses it.
CREATE FUNCTION platform.audit_org_guard() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM FROM identity.orgs WHERE id = NEW.org_id AND status <> 'active';
  IF FOUND THEN
    RAISE EXCEPTION USING ERRCODE = 'MH012', MESSAGE = 'the org takes no writes',
      SCHEMA = 'platform', TABLE = 'audit_events', CONSTRAINT = TG_NAME;
  END IF;
  RETURN NEW;
END
$$;

-- Only the types that may be refused pay for the look.
CREATE TRIGGER org_guard BEFORE INSERT ON platform.audit_events
  FOR EACH ROW WHEN (NEW.actor_kind <> 'system' AND NEW.event_type !~ '^(org|auth|session|user)\.')
  EXECUTE FUNCTION platform.audit_org_guard();

-- MH001: history goes with its purged org,
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON platform.audit_events
  FOR EACH ROW EXECUTE FUNCTION platform.append_only('purge');
-- except for what must outlive it,
CREATE TRIGGER append_only_durable BEFORE DELETE ON platform.audit_events
  FOR EACH ROW WHEN (OLD.durable) EXECUTE FUNCTION platform.append_only('never');
-- and never all at once.
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON platform.audit_events
  FOR EACH STATEMENT EXECUTE FUNCTION platform.append_only('never');

-- The one sender on channel moothall_audit: the org that has news. The server drops equal payloads of one transaction,
-- so an org is named once however many rows there are.
CREATE FUNCTION platform.notify_audit() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM pg_notify('moothall_audit', news.org_id::text) FROM (SELECT DISTINCT org_id FROM inserted) AS news;
  RETURN NULL;
END
$$;

-- Wakes the readers of the feed when the facts are committed.
CREATE TRIGGER notify_audit AFTER INSERT ON platform.audit_events
  REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION platform.notify_audit();

-- After a logical restore transaction ids start again below those in the rows: new facts would hide behind old ones. Asked
-- at start, under the migration lock: when the current era holds a transaction that this server has not reached yet, the
-- next era begins. It compares with the snapshot that sees the rows, not with an id of its own, which writers that run
-- meanwhile could overtake. The gate's log of actions joins when it comes.
CREATE FUNCTION platform.maint_audit_era() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  era_now integer;
BEGIN
  SELECT audit_era INTO era_now FROM platform.instance FOR UPDATE;
  PERFORM FROM platform.audit_events
    WHERE era = era_now AND xact_id >= pg_snapshot_xmax(pg_current_snapshot())
    LIMIT 1;
  IF FOUND THEN
    UPDATE platform.instance SET audit_era = era_now + 1 RETURNING audit_era INTO era_now;
  END IF;
  RETURN era_now;
END
$$;

GRANT EXECUTE ON FUNCTION platform.maint_audit_era() TO moothall_app;

----------------------------------------------------------------------------------------------------------- rate_limits

-- Counters of sign-in attempts and the like, in the layout of rate-limiter-flexible; keys are HMACs and name nobody.
-- Unlogged: a crash forgets counts, nothing else. Global, no row security.
CREATE UNLOGGED TABLE platform.rate_limits (
  key text PRIMARY KEY CHECK (char_length(key) <= 255),
  points integer NOT NULL DEFAULT 0,
  expire bigint -- milliseconds since 1970
);

GRANT SELECT, INSERT, UPDATE, DELETE ON platform.rate_limits TO moothall_app;
