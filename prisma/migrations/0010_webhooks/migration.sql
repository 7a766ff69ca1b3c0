-- Webhooks: an org's endpoints, the outbox of what they are owed, and the log of what was tried. The outbox is filled by
-- the database itself, in the transaction of the fact, so that no code path can skip it; leased workers empty it.

------------------------------------------------------------------------------------------------------------- webhooks

-- Somebody's endpoint: for the whole org, or for one space.
CREATE TABLE platform.webhooks (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  id platform.uuid7 NOT NULL DEFAULT platform.new_id(),
  space_id uuid, -- null: the whole org's
  url text NOT NULL CHECK (char_length(url) <= 2048 AND url ~ '^https?://'), -- http: to receivers inside the operator's network
  secret_envelope bytea NOT NULL CHECK (octet_length(secret_envelope) <= 4096),
  previous_secret_envelope bytea CHECK (octet_length(previous_secret_envelope) <= 4096),
  previous_secret_until timestamptz, -- both sign until then
  secret_hint text NOT NULL CHECK (char_length(secret_hint) = 4), -- the secret's last characters, to tell it by
  kek_id text NOT NULL CHECK (char_length(kek_id) BETWEEN 1 AND 2048), -- which key wraps both envelopes
  event_types text[] NOT NULL CHECK (cardinality(event_types) BETWEEN 1 AND 50 AND array_position(event_types, NULL) IS NULL),
  is_active boolean NOT NULL DEFAULT true,
  -- Since when it has been on without a break: what happened before is never sent.
  active_since timestamptz NOT NULL DEFAULT clock_timestamp(),
  disabled_reason text CHECK (disabled_reason IN ('manual', 'failing', 'gone')),
  api_version text NOT NULL CHECK (api_version ~ '^\d{4}-\d\d-\d\d$'), -- the form of its bodies
  failing_since timestamptz,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  created_by uuid REFERENCES identity.users ON DELETE SET NULL,
  updated_by uuid REFERENCES identity.users ON DELETE SET NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, id),
  FOREIGN KEY (org_id, space_id) REFERENCES rooms.spaces ON DELETE CASCADE,
  CONSTRAINT webhooks_disabled_check CHECK (is_active = (disabled_reason IS NULL)),
  CONSTRAINT webhooks_previous_check CHECK ((previous_secret_envelope IS NULL) = (previous_secret_until IS NULL))
);

-- One for each space.
CREATE UNIQUE INDEX webhooks_space_key ON platform.webhooks (org_id, space_id) WHERE space_id IS NOT NULL;
-- Those of the org as a whole, which each of its events asks for.
CREATE INDEX webhooks_org_idx ON platform.webhooks (org_id) WHERE space_id IS NULL;
-- For their foreign keys alone.
CREATE INDEX webhooks_created_by_idx ON platform.webhooks (created_by) WHERE created_by IS NOT NULL;
CREATE INDEX webhooks_updated_by_idx ON platform.webhooks (updated_by) WHERE updated_by IS NOT NULL;

ALTER TABLE platform.webhooks ENABLE ROW LEVEL SECURITY;

-- Rows of the operation's org only, read and written.
CREATE POLICY tenant ON platform.webhooks FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- No guest has to do with them.
CREATE POLICY guest_none ON platform.webhooks AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);

-- Whose it is and the form of its bodies stay; since when it is on is the database's word.
GRANT SELECT, DELETE,
  INSERT (org_id, id, space_id, url, secret_envelope, secret_hint, kek_id, event_types, api_version, created_by),
  UPDATE (url, secret_envelope, previous_secret_envelope, previous_secret_until, secret_hint, kek_id, event_types,
    is_active, disabled_reason, failing_since, last_success_at, last_failure_at, updated_by)
  ON platform.webhooks TO moothall_app;

-- MH011: at most 20 endpoints of a whole org, since each of them is sent each event. The org's row is locked before they
-- are counted, so that two made at once see each other. Definer, to count under any settings.
CREATE FUNCTION platform.webhooks_bound() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM FROM identity.orgs WHERE id = NEW.org_id FOR NO KEY UPDATE;
  IF (SELECT count(*) FROM platform.webhooks WHERE org_id = NEW.org_id AND space_id IS NULL) >= 20 THEN
    RAISE EXCEPTION USING ERRCODE = 'MH011', MESSAGE = 'too many webhooks',
      SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER webhooks_bound BEFORE INSERT ON platform.webhooks
  FOR EACH ROW WHEN (NEW.space_id IS NULL) EXECUTE FUNCTION platform.webhooks_bound();

-- Switched on again, an endpoint begins anew.
CREATE FUNCTION platform.webhooks_active_since() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  NEW.active_since := clock_timestamp();
  RETURN NEW;
END
$$;
CREATE TRIGGER webhooks_active_since BEFORE UPDATE OF is_active ON platform.webhooks
  FOR EACH ROW WHEN (NEW.is_active AND NOT OLD.is_active) EXECUTE FUNCTION platform.webhooks_active_since();

-- Keeps updated_at.
CREATE TRIGGER touch BEFORE UPDATE ON platform.webhooks FOR EACH ROW EXECUTE FUNCTION platform.touch();

--------------------------------------------------------------------------------------------------- webhook_deliveries

-- The outbox: what one endpoint is owed of one event.
CREATE TABLE platform.webhook_deliveries (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  id platform.uuid7 NOT NULL DEFAULT platform.new_id(),
  webhook_id uuid NOT NULL,
  event_id uuid NOT NULL,
  room_id uuid, -- what happened in a room goes with it; null for the event that reports its end
  body bytea, -- rendered at the first claim; these bytes are sent every time
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'dead')),
  attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  attempts_before integer NOT NULL DEFAULT 0 CHECK (attempts_before BETWEEN 0 AND attempts), -- as of its redelivery
  next_attempt_at timestamptz NOT NULL DEFAULT now(),
  locked_by text CHECK (char_length(locked_by) BETWEEN 1 AND 64),
  locked_until timestamptz,
  delivered_at timestamptz,
  failed_at timestamptz,
  last_error text CHECK (char_length(last_error) <= 1024),
  redelivered_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, id),
  UNIQUE (org_id, webhook_id, event_id),
  FOREIGN KEY (org_id, webhook_id) REFERENCES platform.webhooks ON DELETE CASCADE,
  FOREIGN KEY (org_id, event_id) REFERENCES platform.audit_events ON DELETE CASCADE, -- in the purge of an org alone
  FOREIGN KEY (org_id, room_id) REFERENCES rooms.rooms ON DELETE CASCADE,
  CONSTRAINT webhook_deliveries_final_check CHECK (
    (state = 'delivered') = (delivered_at IS NOT NULL) AND (state = 'dead') = (failed_at IS NOT NULL)),
  CONSTRAINT webhook_deliveries_lease_check CHECK (
    (locked_by IS NULL) = (locked_until IS NULL) AND (locked_until IS NULL OR state = 'pending'))
);

-- Whether anything is due at all.
CREATE INDEX webhook_deliveries_due_idx ON platform.webhook_deliveries (next_attempt_at) WHERE state = 'pending';
-- What is owed, endpoint by endpoint, soonest first: a claim leaps from one endpoint to the next, however much one of
-- them is owed.
CREATE INDEX webhook_deliveries_owed_idx ON platform.webhook_deliveries (org_id, webhook_id, next_attempt_at)
  WHERE state = 'pending';
-- The few that are being sent.
CREATE INDEX webhook_deliveries_leased_idx ON platform.webhook_deliveries (webhook_id) WHERE locked_until IS NOT NULL;
-- An endpoint's deliveries, newest first.
CREATE INDEX webhook_deliveries_newest_idx ON platform.webhook_deliveries (org_id, webhook_id, created_at DESC);
-- What goes with its room.
CREATE INDEX webhook_deliveries_room_idx ON platform.webhook_deliveries (org_id, room_id) WHERE room_id IS NOT NULL;
-- What retention removes.
CREATE INDEX webhook_deliveries_final_idx ON platform.webhook_deliveries ((coalesce(delivered_at, failed_at)))
  WHERE state <> 'pending';

ALTER TABLE platform.webhook_deliveries ENABLE ROW LEVEL SECURITY;

-- Rows of the operation's org only, read and written.
CREATE POLICY tenant ON platform.webhook_deliveries FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- A guest's events are delivered too, by the trigger; the guest sees nothing of it.
CREATE POLICY guest_none ON platform.webhook_deliveries AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);

-- What is owed is the trigger's word, a test's apart; attempts are counted by the claim; rows go by retention.
GRANT SELECT, INSERT (org_id, id, webhook_id, event_id),
  UPDATE (body, state, attempts_before, next_attempt_at, locked_by, locked_until, delivered_at, failed_at, last_error,
    redelivered_at)
  ON platform.webhook_deliveries TO moothall_app;

-- MH010: what was delivered or is dead ends there, but for a redelivery.
CREATE FUNCTION platform.webhook_deliveries_edges() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RAISE EXCEPTION USING ERRCODE = 'MH010', MESSAGE = 'no such change of state',
    SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, COLUMN = 'state', CONSTRAINT = TG_NAME;
END
$$;
CREATE TRIGGER webhook_deliveries_edges BEFORE UPDATE OF state ON platform.webhook_deliveries
  FOR EACH ROW WHEN (OLD.state <> NEW.state AND OLD.state <> 'pending' AND NEW.state <> 'pending')
  EXECUTE FUNCTION platform.webhook_deliveries_edges();

-- MH008: what was signed once is sent unchanged.
CREATE TRIGGER webhook_deliveries_body BEFORE UPDATE OF body ON platform.webhook_deliveries
  FOR EACH ROW EXECUTE FUNCTION platform.set_once('body');

----------------------------------------------------------------------------------------------------- webhook_attempts

-- What was tried and what came back.
CREATE TABLE platform.webhook_attempts (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  delivery_id uuid NOT NULL,
  attempt integer NOT NULL CHECK (attempt >= 1),
  status text NOT NULL CHECK (status IN ('succeeded', 'failed')),
  started_at timestamptz NOT NULL,
  duration_ms integer NOT NULL CHECK (duration_ms >= 0),
  response_status integer CHECK (response_status BETWEEN 100 AND 999),
  response_body text CHECK (octet_length(response_body) <= 4096), -- the beginning, secrets removed
  error_message text CHECK (char_length(error_message) <= 1024),
  worker text NOT NULL CHECK (char_length(worker) BETWEEN 1 AND 64),
  PRIMARY KEY (org_id, delivery_id, attempt),
  FOREIGN KEY (org_id, delivery_id) REFERENCES platform.webhook_deliveries ON DELETE CASCADE
);

ALTER TABLE platform.webhook_attempts ENABLE ROW LEVEL SECURITY;

-- Rows of the operation's org only, read and written.
CREATE POLICY tenant ON platform.webhook_attempts FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- No guest has to do with them.
CREATE POLICY guest_none ON platform.webhook_attempts AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);

GRANT SELECT, INSERT ON platform.webhook_attempts TO moothall_app;

--------------------------------------------------------------------------------------------------------------- fan-out

-- The one sender on channel moothall_jobs: a queue that has work (PLAT-25). The server drops equal payloads of one
-- transaction.
CREATE FUNCTION platform.notify_jobs(p_kind text) RETURNS void
LANGUAGE sql VOLATILE
BEGIN ATOMIC
  SELECT pg_notify('moothall_jobs', p_kind);
END;

GRANT EXECUTE ON FUNCTION platform.notify_jobs(text) TO moothall_app;

-- What an endpoint may have asked for so that an event of this type goes to it: `*`, `a.*`, `a.b.*`, the type itself.
CREATE FUNCTION platform.event_type_patterns(p_type text) RETURNS text[]
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
  SELECT ARRAY['*', p_type] || ARRAY(
    SELECT array_to_string((string_to_array(p_type, '.'))[1:depth], '.') || '.*'
    FROM generate_series(1, cardinality(string_to_array(p_type, '.')) - 1) AS depth);
END;

-- What each endpoint is owed of a fact, in the fact's own transaction. Definer, so that it works for guests and no code
-- path can go around it. Endpoints and room are locked against going until the fact is committed: one that is being
-- deleted would else fail the fact.
CREATE FUNCTION platform.fan_out() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  wanted CONSTANT text[] := platform.event_type_patterns(NEW.event_type);
  endpoints uuid[];
  room uuid;
BEGIN
  SELECT array_agg(matching.id) INTO endpoints FROM (
    SELECT id FROM platform.webhooks
    WHERE (org_id = NEW.org_id AND space_id IS NULL OR org_id = NEW.org_id AND space_id = NEW.space_id)
      AND is_active AND event_types && wanted
      AND active_since <= NEW.created_at AND created_at <= NEW.created_at
    ORDER BY id FOR KEY SHARE) AS matching;
  IF endpoints IS NULL THEN
    RETURN NULL;
  END IF;
  IF NEW.room_id IS NOT NULL AND NEW.event_type <> 'room.deleted' THEN
    SELECT id INTO room FROM rooms.rooms WHERE org_id = NEW.org_id AND id = NEW.room_id FOR KEY SHARE;
  END IF;
  INSERT INTO platform.webhook_deliveries (org_id, webhook_id, event_id, room_id)
    SELECT NEW.org_id, endpoint, NEW.id, room FROM unnest(endpoints) AS endpoint
    ON CONFLICT DO NOTHING;
  PERFORM platform.notify_jobs('webhook_delivery');
  RETURN NULL;
END
$$;

-- A test is for one endpoint, and its mutation says for which.
CREATE TRIGGER fan_out AFTER INSERT ON platform.audit_events
  FOR EACH ROW WHEN (NEW.deliverable AND NEW.event_type <> 'webhook.test') EXECUTE FUNCTION platform.fan_out();

----------------------------------------------------------------------------------------------------------------- queue

-- Leases deliveries that are due: of active endpoints, at most four of each at a time whoever sends them, those with the
-- fewest under way first. An endpoint's leases are counted under its row's lock, in a statement of its own so that the
-- count sees what the last holder of the lock committed; an endpoint that another claim looks at is left to it. The
-- worker's name and the number of attempts together are the lease: no later claim has both.
CREATE FUNCTION platform.claim_webhook_deliveries(p_worker text, p_limit integer, p_lease interval)
RETURNS TABLE (id uuid, org_id uuid, webhook_id uuid, event_id uuid, attempts integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  per_endpoint CONSTANT integer := 4;
  remaining integer := p_limit;
  endpoint record;
  live integer;
  claimed integer;
BEGIN
  IF p_limit NOT BETWEEN 1 AND 100 OR p_lease NOT BETWEEN interval '1 second' AND interval '1 hour' THEN
    RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'a claim takes 1 to 100 rows for a second to an hour';
  END IF;
  IF NOT EXISTS (SELECT FROM platform.webhook_deliveries WHERE state = 'pending' AND next_attempt_at <= now()) THEN
    RETURN;
  END IF;
  FOR endpoint IN
    WITH RECURSIVE owed AS ( -- every endpoint that is owed something, with the first row of it
      (SELECT d.org_id, d.webhook_id, d.next_attempt_at FROM platform.webhook_deliveries AS d
       WHERE d.state = 'pending' ORDER BY d.org_id, d.webhook_id, d.next_attempt_at LIMIT 1)
      UNION ALL
      SELECT next.* FROM owed CROSS JOIN LATERAL (
        SELECT d.org_id, d.webhook_id, d.next_attempt_at FROM platform.webhook_deliveries AS d
        WHERE d.state = 'pending' AND (d.org_id, d.webhook_id) > (owed.org_id, owed.webhook_id)
        ORDER BY d.org_id, d.webhook_id, d.next_attempt_at LIMIT 1) AS next)
    SELECT owed.org_id, owed.webhook_id FROM owed
    JOIN platform.webhooks AS w ON w.org_id = owed.org_id AND w.id = owed.webhook_id AND w.is_active
    JOIN identity.orgs AS o ON o.id = owed.org_id AND o.status IN ('active', 'archived')
    CROSS JOIN LATERAL (
      SELECT count(*) AS live FROM platform.webhook_deliveries AS d
      WHERE d.org_id = owed.org_id AND d.webhook_id = owed.webhook_id AND d.locked_until > now()) AS under_way
    WHERE owed.next_attempt_at <= now() AND under_way.live < per_endpoint
    ORDER BY under_way.live, owed.next_attempt_at
  LOOP
    EXIT WHEN remaining = 0;
    PERFORM FROM platform.webhooks AS w
      WHERE w.org_id = endpoint.org_id AND w.id = endpoint.webhook_id AND w.is_active
      FOR NO KEY UPDATE SKIP LOCKED;
    CONTINUE WHEN NOT FOUND;
    SELECT count(*) INTO live FROM platform.webhook_deliveries AS d
      WHERE d.org_id = endpoint.org_id AND d.webhook_id = endpoint.webhook_id AND d.locked_until > now();
    RETURN QUERY
      UPDATE platform.webhook_deliveries AS d
      SET locked_by = p_worker, locked_until = now() + p_lease, attempts = d.attempts + 1
      FROM (
        SELECT due.org_id, due.id FROM platform.webhook_deliveries AS due
        WHERE due.org_id = endpoint.org_id AND due.webhook_id = endpoint.webhook_id AND due.state = 'pending'
          AND due.next_attempt_at <= now() AND (due.locked_until IS NULL OR due.locked_until <= now())
        ORDER BY due.next_attempt_at LIMIT least(greatest(per_endpoint - live, 0), remaining)
        FOR UPDATE SKIP LOCKED) AS free
      WHERE d.org_id = free.org_id AND d.id = free.id
      RETURNING d.id::uuid, d.org_id, d.webhook_id, d.event_id, d.attempts;
    GET DIAGNOSTICS claimed = ROW_COUNT;
    remaining := remaining - claimed;
  END LOOP;
END
$$;

-- Removes what was delivered or given up that long ago, attempts with it. What is owed stays however old.
CREATE FUNCTION platform.maint_prune_webhook_deliveries(p_limit integer, p_keep interval DEFAULT '30 days')
RETURNS integer
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  WITH old AS (
    SELECT d.org_id, d.id FROM platform.webhook_deliveries AS d
    WHERE d.state <> 'pending' AND coalesce(d.delivered_at, d.failed_at) < now() - greatest(p_keep, interval '0')
    ORDER BY coalesce(d.delivered_at, d.failed_at) LIMIT least(greatest(p_limit, 0), 10000)
    FOR UPDATE SKIP LOCKED
  ), removed AS (
    DELETE FROM platform.webhook_deliveries AS d USING old WHERE d.org_id = old.org_id AND d.id = old.id RETURNING 1
  )
  SELECT count(*)::integer FROM removed;
END;

GRANT EXECUTE ON FUNCTION platform.claim_webhook_deliveries(text, integer, interval),
  platform.maint_prune_webhook_deliveries(integer, interval) TO moothall_app;
