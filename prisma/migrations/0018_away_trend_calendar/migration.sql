-- Away days, which are nobody's business but the person's; what became of a team's standups over the weeks, without a
-- figure about anybody; and the secret addresses under which people's calendars fetch the standups of their spaces.

--------------------------------------------------------------------------------------------------------------- away days

-- Days on which somebody takes part in no standup of the org, the last one included (ROOM-130).
CREATE TABLE rooms.standup_away (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  id platform.uuid7 NOT NULL DEFAULT platform.new_id(),
  user_id uuid NOT NULL REFERENCES identity.users ON DELETE CASCADE,
  starts_on date NOT NULL,
  ends_on date NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, id),
  CONSTRAINT standup_away_range_check CHECK (ends_on >= starts_on AND ends_on - starts_on < 90)
);
-- Somebody's ranges, and whether one of them covers a day.
CREATE INDEX standup_away_of_user_idx ON rooms.standup_away (org_id, user_id, ends_on);

-- Somebody with standing in the org when the row is made (MH009).
CREATE TRIGGER standup_away_standing BEFORE INSERT ON rooms.standup_away
  FOR EACH ROW EXECUTE FUNCTION identity.require_standing('user_id');

------------------------------------------------------------------------------------------------------------------- trend

-- How many could have answered a scheduled standup, and how many did. Written once (ROOM-132); no row, here or anywhere,
-- says it of a person (ROOM-134).
CREATE TABLE rooms.standup_trend_days (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  id platform.uuid7 NOT NULL DEFAULT platform.new_id(),
  room_id uuid,
  space_id uuid NOT NULL,
  day date NOT NULL,
  eligible integer NOT NULL,
  answered integer NOT NULL,
  frozen_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, id),
  UNIQUE (org_id, room_id),
  FOREIGN KEY (org_id, room_id) REFERENCES rooms.rooms ON DELETE SET NULL (room_id),
  FOREIGN KEY (org_id, space_id) REFERENCES rooms.spaces ON DELETE CASCADE,
  CONSTRAINT standup_trend_days_figures_check CHECK (0 <= answered AND answered <= eligible)
);
-- A space's weeks.
CREATE INDEX standup_trend_days_of_space_idx ON rooms.standup_trend_days (org_id, space_id, day);

-- What is frozen stays, whoever writes; of a deleted room it loses the room alone (MH008).
CREATE FUNCTION rooms.standup_trend_days_frozen() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  before rooms.standup_trend_days := OLD;
BEGIN
  IF NEW.room_id IS NULL THEN
    before.room_id := NULL;
  END IF;
  IF NEW IS DISTINCT FROM before THEN
    RAISE EXCEPTION USING ERRCODE = 'MH008', MESSAGE = 'a frozen day stays as it is',
      SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER standup_trend_days_frozen BEFORE UPDATE ON rooms.standup_trend_days
  FOR EACH ROW EXECUTE FUNCTION rooms.standup_trend_days_frozen();

----------------------------------------------------------------------------------------------------------- calendar feed

-- The address of somebody's calendar feed in one org: its digest, and eight characters to look it up by. Ends with the
-- membership, and goes with the person.
CREATE TABLE rooms.ics_feed_tokens (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  user_id uuid NOT NULL REFERENCES identity.users ON DELETE CASCADE,
  token_hash bytea NOT NULL CHECK (octet_length(token_hash) = 32),
  lookup_prefix text NOT NULL CHECK (char_length(lookup_prefix) = 8),
  remind_minutes integer NOT NULL CHECK (remind_minutes BETWEEN 0 AND 1440),
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz,
  PRIMARY KEY (org_id, user_id)
);
-- Global, because a feed is looked up before any org is known.
CREATE UNIQUE INDEX ics_feed_tokens_lookup_prefix_key ON rooms.ics_feed_tokens (lookup_prefix) WHERE revoked_at IS NULL;

-- Somebody with standing in the org when an address is made (MH009).
CREATE TRIGGER ics_feed_tokens_standing BEFORE INSERT OR UPDATE OF token_hash ON rooms.ics_feed_tokens
  FOR EACH ROW EXECUTE FUNCTION identity.require_standing('user_id');

-- A new address is a new feed and as old as that; without one, what was revoked stays revoked (MH008).
CREATE FUNCTION rooms.ics_feed_tokens_minted() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF NEW.token_hash <> OLD.token_hash THEN
    NEW.created_at := now();
  ELSIF OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at THEN
    RAISE EXCEPTION USING ERRCODE = 'MH008', MESSAGE = 'a revoked feed stays revoked',
      SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, COLUMN = 'revoked_at', CONSTRAINT = TG_NAME;
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER ics_feed_tokens_minted BEFORE UPDATE ON rooms.ics_feed_tokens
  FOR EACH ROW EXECUTE FUNCTION rooms.ics_feed_tokens_minted();

----------------------------------------------------------------------------------------------------------- row security

ALTER TABLE rooms.standup_away ENABLE ROW LEVEL SECURITY;
ALTER TABLE rooms.standup_trend_days ENABLE ROW LEVEL SECURITY;
ALTER TABLE rooms.ics_feed_tokens ENABLE ROW LEVEL SECURITY;

-- Nobody but the person sees when they are away; rooms.away_on tells of one day.
CREATE POLICY personal ON rooms.standup_away FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid)
    AND user_id = (SELECT nullif(current_setting('moothall.user_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid)
    AND user_id = (SELECT nullif(current_setting('moothall.user_id', true), '')::uuid));
-- A guest is of one room and has no days.
CREATE POLICY guest_none ON rooms.standup_away AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);
-- An org sees its own days.
CREATE POLICY tenant ON rooms.standup_trend_days FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- A guest knows a room, not how its team does.
CREATE POLICY guest_none ON rooms.standup_trend_days AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);
-- Nobody but the person sees that they have a feed.
CREATE POLICY personal ON rooms.ics_feed_tokens FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid)
    AND user_id = (SELECT nullif(current_setting('moothall.user_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid)
    AND user_id = (SELECT nullif(current_setting('moothall.user_id', true), '')::uuid));
-- A guest has no feed.
CREATE POLICY guest_none ON rooms.ics_feed_tokens AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);

-- Days are added and taken back, never changed; frozen ones are written once and go with their space.
GRANT SELECT, INSERT, DELETE ON rooms.standup_away TO moothall_app;
GRANT SELECT, INSERT ON rooms.standup_trend_days TO moothall_app;
-- The digest of an address is found by rooms.preauth_ics_token and read by nobody.
GRANT SELECT (org_id, user_id, remind_minutes, created_at, revoked_at), INSERT,
  UPDATE (token_hash, lookup_prefix, remind_minutes, revoked_at) ON rooms.ics_feed_tokens TO moothall_app;

--------------------------------------------------------------------------------------------------------------- functions

-- When a day is over in a zone. Of a zone that this server does not know, and the runtime does: when it is over
-- everywhere.
CREATE FUNCTION rooms.day_end(p_day date, p_zone text) RETURNS timestamptz
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN (p_day + 1)::timestamp AT TIME ZONE p_zone;
EXCEPTION WHEN invalid_parameter_value THEN
  RETURN (p_day + 1)::timestamp AT TIME ZONE 'UTC' + interval '12 hours';
END
$$;

-- Which members of a space are away on a day, by ranges made before that time; null: by any (ROOM-131, 133). The only
-- way past the policy of the table. Guests never learn it.
CREATE FUNCTION rooms.away_on(p_space uuid, p_day date, p_created_before timestamptz DEFAULT NULL)
RETURNS TABLE (user_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp ROWS 5
BEGIN ATOMIC
  SELECT m.user_id
  FROM rooms.members m
  WHERE m.org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid) AND m.space_id = p_space
    AND (SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL
    AND EXISTS (
      SELECT FROM rooms.standup_away a
      WHERE a.org_id = m.org_id AND a.user_id = m.user_id AND a.starts_on <= p_day AND a.ends_on >= p_day
        AND (p_created_before IS NULL OR a.created_at < p_created_before));
END;

-- Scheduled standups whose local day has passed and that nobody ended, in active orgs, the oldest first. Several
-- processes may find the same one: it is written once, under the room's lock (ROOM-132).
CREATE FUNCTION rooms.claim_unfrozen_slots(p_limit integer)
RETURNS TABLE (org_id uuid, room_id uuid, slot_date date)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN QUERY
    SELECT s.org_id, s.room_id, s.slot_date
    FROM rooms.standup_schedule_slots AS s
    JOIN rooms.standup_schedules AS schedule ON schedule.org_id = s.org_id AND schedule.id = s.schedule_id
    JOIN identity.orgs AS o ON o.id = s.org_id AND o.status = 'active'
    WHERE s.room_id IS NOT NULL
      AND NOT EXISTS (SELECT FROM rooms.standup_trend_days AS d WHERE d.org_id = s.org_id AND d.room_id = s.room_id)
      AND rooms.day_end(s.slot_date, schedule.timezone) <= rooms.clock()
    ORDER BY s.slot_date LIMIT least(greatest(p_limit, 0), 1000);
END
$$;

-- Whose feed an address may be, before any org is known; the digest says whether it is. An address that was revoked is
-- not there.
CREATE FUNCTION rooms.preauth_ics_token(p_prefix text)
RETURNS TABLE (org_id uuid, user_id uuid, token_hash bytea, remind_minutes integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp ROWS 1
BEGIN ATOMIC
  SELECT t.org_id, t.user_id, t.token_hash, t.remind_minutes
  FROM rooms.ics_feed_tokens t
  WHERE t.lookup_prefix = p_prefix AND t.revoked_at IS NULL;
END;

-- Ends the feed of somebody who has no standing in the org any more, whoever ended it; true where there was one.
CREATE FUNCTION rooms.ics_feed_revoke(p_user uuid) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  org CONSTANT uuid := nullif(current_setting('moothall.org_id', true), '')::uuid;
BEGIN
  UPDATE rooms.ics_feed_tokens AS t SET revoked_at = now()
  WHERE t.org_id = org AND t.user_id = p_user AND t.revoked_at IS NULL AND NOT identity.has_standing(org, p_user);
  RETURN FOUND;
END
$$;

-- Removes what of an erased person nobody but they could read (ID-65): their away days and their feed in the org.
CREATE FUNCTION rooms.erase_personal(p_user uuid) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  org CONSTANT uuid := nullif(current_setting('moothall.org_id', true), '')::uuid;
BEGIN
  IF EXISTS (SELECT FROM identity.users WHERE id = p_user AND status = 'erased') THEN
    DELETE FROM rooms.standup_away WHERE org_id = org AND user_id = p_user;
    DELETE FROM rooms.ics_feed_tokens WHERE org_id = org AND user_id = p_user;
  END IF;
END
$$;

GRANT EXECUTE ON FUNCTION rooms.day_end(date, text), rooms.away_on(uuid, date, timestamptz),
  rooms.claim_unfrozen_slots(integer), rooms.preauth_ics_token(text), rooms.ics_feed_revoke(uuid),
  rooms.erase_personal(uuid) TO moothall_app;
