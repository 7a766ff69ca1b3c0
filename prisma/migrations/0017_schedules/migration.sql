-- Standups that open by themselves: when a team wants them, which days have had theirs, and what people wrote ahead.

-- The clock that slots and windows go by. A function of its own, because two years of slots can only be proven on a
-- database whose clock moves; it is the one thing such a database replaces. STABLE: one statement sees one time, and an
-- index is searched by it.
CREATE FUNCTION rooms.clock() RETURNS timestamptz
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
RETURN clock_timestamp();

-------------------------------------------------------------------------------------------------------------- schedules

-- When a space wants its standup: one schedule a space, in the team's own zone. It goes with its space alone.
CREATE TABLE rooms.standup_schedules (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  id platform.uuid7 NOT NULL DEFAULT platform.new_id(),
  space_id uuid NOT NULL,
  -- 0 is Sunday.
  weekdays smallint[] NOT NULL,
  open_time time NOT NULL CHECK (date_trunc('minute', open_time) = open_time),
  timezone text NOT NULL CHECK (char_length(timezone) BETWEEN 1 AND 64),
  window_minutes integer NOT NULL CHECK (window_minutes BETWEEN 1 AND 1440),
  enabled boolean NOT NULL,
  updated_by uuid REFERENCES identity.users ON DELETE SET NULL,
  -- Rises with each save; calendars go by it.
  revision integer NOT NULL DEFAULT 0 CHECK (revision >= 0),
  -- The local date of the first slot after the last save.
  starts_on date NOT NULL,
  next_open_at timestamptz,
  -- Who opens the due slot now, or waits to try again.
  locked_by text CHECK (char_length(locked_by) <= 64),
  locked_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, id),
  UNIQUE (org_id, space_id),
  FOREIGN KEY (org_id, space_id) REFERENCES rooms.spaces ON DELETE CASCADE,
  -- Subqueries are not for checks: strictly rising is what both sorted and distinct mean.
  CONSTRAINT standup_schedules_weekdays_check CHECK (
    cardinality(weekdays) BETWEEN 1 AND 7 AND array_position(weekdays, NULL) IS NULL
    AND weekdays[1] >= 0 AND weekdays[cardinality(weekdays)] <= 6
    AND coalesce(weekdays[1] < weekdays[2], true) AND coalesce(weekdays[2] < weekdays[3], true)
    AND coalesce(weekdays[3] < weekdays[4], true) AND coalesce(weekdays[4] < weekdays[5], true)
    AND coalesce(weekdays[5] < weekdays[6], true) AND coalesce(weekdays[6] < weekdays[7], true)),
  CONSTRAINT standup_schedules_next_check CHECK (enabled = (next_open_at IS NOT NULL))
);
-- claim_due_standups looks across orgs for slots that are due.
CREATE INDEX standup_schedules_due_idx ON rooms.standup_schedules (next_open_at) WHERE enabled;
-- For its foreign key alone.
CREATE INDEX standup_schedules_updated_by_idx ON rooms.standup_schedules (org_id, updated_by)
  WHERE updated_by IS NOT NULL;

-- Keeps updated_at, the time of the last save: a lease and the next slot are no saves.
CREATE TRIGGER touch BEFORE UPDATE OF weekdays, open_time, timezone, window_minutes, enabled, revision
  ON rooms.standup_schedules FOR EACH ROW EXECUTE FUNCTION platform.touch();

------------------------------------------------------------------------------------------------------------------ slots

-- The local dates that have had their slot, opened or not. Its key is what keeps several servers from opening a day
-- twice (ROOM-124), and a deleted room from opening it again (ROOM-126). The room is made after its slot, in the same
-- transaction, so its key is looked at last.
CREATE TABLE rooms.standup_schedule_slots (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  schedule_id uuid NOT NULL,
  slot_date date NOT NULL,
  room_id uuid,
  outcome text NOT NULL CHECK (outcome IN ('opened', 'no_owner', 'missed')),
  opens_at timestamptz NOT NULL,
  closes_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, schedule_id, slot_date),
  UNIQUE (org_id, room_id),
  FOREIGN KEY (org_id, schedule_id) REFERENCES rooms.standup_schedules ON DELETE CASCADE,
  FOREIGN KEY (org_id, room_id) REFERENCES rooms.rooms ON DELETE SET NULL (room_id) DEFERRABLE INITIALLY DEFERRED,
  CONSTRAINT standup_schedule_slots_window_check CHECK (closes_at > opens_at),
  CONSTRAINT standup_schedule_slots_room_check CHECK (room_id IS NULL OR outcome = 'opened')
);

-- What became of a day stays, whoever writes; of a deleted room it loses the room alone (MH008).
CREATE FUNCTION rooms.standup_schedule_slots_fixed() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  before rooms.standup_schedule_slots := OLD;
BEGIN
  IF NEW.room_id IS NULL THEN
    before.room_id := NULL;
  END IF;
  IF NEW IS DISTINCT FROM before THEN
    RAISE EXCEPTION USING ERRCODE = 'MH008', MESSAGE = 'a slot stays as it is',
      SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER standup_schedule_slots_fixed BEFORE UPDATE ON rooms.standup_schedule_slots
  FOR EACH ROW EXECUTE FUNCTION rooms.standup_schedule_slots_fixed();

------------------------------------------------------------------------------------------------------------------ ahead

-- What somebody wrote for a day that has not opened yet: theirs alone until it does (ROOM-129).
CREATE TABLE rooms.standup_ahead_entries (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  schedule_id uuid NOT NULL,
  day date NOT NULL,
  user_id uuid NOT NULL REFERENCES identity.users ON DELETE CASCADE,
  yesterday text NOT NULL DEFAULT '' CHECK (char_length(yesterday) <= 2000),
  today text NOT NULL DEFAULT '' CHECK (char_length(today) <= 2000),
  blockers text NOT NULL DEFAULT '' CHECK (char_length(blockers) <= 2000),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, schedule_id, day, user_id),
  FOREIGN KEY (org_id, schedule_id) REFERENCES rooms.standup_schedules ON DELETE CASCADE
);
-- For its foreign key alone.
CREATE INDEX standup_ahead_entries_of_user_idx ON rooms.standup_ahead_entries (org_id, user_id);
-- The daily sweep looks for old days across orgs.
CREATE INDEX standup_ahead_entries_day_idx ON rooms.standup_ahead_entries (day);

-- Somebody with standing in the org when the row is made (MH009).
CREATE TRIGGER standup_ahead_entries_standing BEFORE INSERT ON rooms.standup_ahead_entries
  FOR EACH ROW EXECUTE FUNCTION identity.require_standing('user_id');
-- Keeps updated_at.
CREATE TRIGGER touch BEFORE UPDATE ON rooms.standup_ahead_entries
  FOR EACH ROW EXECUTE FUNCTION platform.touch();

----------------------------------------------------------------------------------------------------------- row security

ALTER TABLE rooms.standup_schedules ENABLE ROW LEVEL SECURITY;
ALTER TABLE rooms.standup_schedule_slots ENABLE ROW LEVEL SECURITY;
ALTER TABLE rooms.standup_ahead_entries ENABLE ROW LEVEL SECURITY;

-- An org sees its own schedules.
CREATE POLICY tenant ON rooms.standup_schedules FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- A guest knows a room, not its space.
CREATE POLICY guest_none ON rooms.standup_schedules AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);
-- An org sees its own slots.
CREATE POLICY tenant ON rooms.standup_schedule_slots FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- A guest knows a room, not its space.
CREATE POLICY guest_none ON rooms.standup_schedule_slots AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);
-- Nobody but its author reads what was written ahead; rooms.ahead_take makes entries of it.
CREATE POLICY personal ON rooms.standup_ahead_entries FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid)
    AND user_id = (SELECT nullif(current_setting('moothall.user_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid)
    AND user_id = (SELECT nullif(current_setting('moothall.user_id', true), '')::uuid));
-- A guest writes in their room alone.
CREATE POLICY guest_none ON rooms.standup_ahead_entries AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);

-- A schedule is never deleted, only switched off; what became of a day is never written again.
GRANT SELECT, INSERT, UPDATE (weekdays, open_time, timezone, window_minutes, enabled, updated_by, revision, starts_on,
    next_open_at, locked_by, locked_until) ON rooms.standup_schedules TO moothall_app;
GRANT SELECT, INSERT ON rooms.standup_schedule_slots TO moothall_app;
GRANT SELECT, INSERT, DELETE, UPDATE (yesterday, today, blockers) ON rooms.standup_ahead_entries TO moothall_app;

--------------------------------------------------------------------------------------------------------------- functions

-- Leases schedules whose slot is due to a worker, in active orgs, those that wait longest first. Who works on one looks
-- once more, under its lock, whether it is still due.
CREATE FUNCTION rooms.claim_due_standups(p_worker text, p_limit integer, p_lease interval)
RETURNS TABLE (org_id uuid, schedule_id uuid, space_id uuid, opens_at timestamptz)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  WITH due AS (
    SELECT s.org_id, s.id
    FROM rooms.standup_schedules s
    JOIN identity.orgs o ON o.id = s.org_id AND o.status = 'active'
    WHERE s.enabled AND s.next_open_at <= rooms.clock() AND (s.locked_until IS NULL OR s.locked_until <= now())
    ORDER BY s.next_open_at LIMIT least(greatest(p_limit, 0), 100)
    FOR NO KEY UPDATE OF s SKIP LOCKED
  )
  UPDATE rooms.standup_schedules s SET locked_by = p_worker, locked_until = now() + p_lease
  FROM due WHERE s.org_id = due.org_id AND s.id = due.id
  RETURNING s.org_id, s.id, s.space_id, s.next_open_at;
END;

-- Removes what was written ahead for a day, and gives what is still an entry: of members who are no spectators. The only
-- way past the policy of the table, for the transaction that opens the day.
CREATE FUNCTION rooms.ahead_take(p_schedule uuid, p_day date)
RETURNS TABLE (user_id uuid, yesterday text, today text, blockers text)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  WITH taken AS (
    DELETE FROM rooms.standup_ahead_entries a
    USING rooms.standup_schedules s, rooms.members m
    WHERE a.org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid)
      AND (SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL
      -- Only for the server itself: nobody takes what others wrote.
      AND (SELECT nullif(current_setting('moothall.user_id', true), '')::uuid) IS NULL
      AND a.schedule_id = p_schedule AND a.day = p_day
      AND s.org_id = a.org_id AND s.id = a.schedule_id
      AND m.org_id = a.org_id AND m.space_id = s.space_id AND m.user_id = a.user_id AND NOT (m.spectator OR m.viewer)
    RETURNING a.user_id, a.yesterday, a.today, a.blockers
  )
  SELECT * FROM taken;
END;

-- Removes what was written ahead for days that are a week past and never opened with it.
CREATE FUNCTION rooms.maint_prune_ahead_entries(p_limit integer) RETURNS integer
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  WITH old AS (
    SELECT a.org_id, a.schedule_id, a.day, a.user_id
    FROM rooms.standup_ahead_entries a
    WHERE a.day < (rooms.clock() AT TIME ZONE 'UTC')::date - 7
    ORDER BY a.day LIMIT p_limit
    FOR UPDATE SKIP LOCKED
  ), removed AS (
    DELETE FROM rooms.standup_ahead_entries a
    USING old
    WHERE a.org_id = old.org_id AND a.schedule_id = old.schedule_id AND a.day = old.day AND a.user_id = old.user_id
    RETURNING 1
  )
  SELECT count(*)::integer FROM removed;
END;

-- Windows end by the clock of the slots that opened them; timers by the server's. Otherwise as before: in active orgs,
-- oldest first, rows another process holds skipped.
CREATE OR REPLACE FUNCTION rooms.claim_due_rooms(p_limit integer)
RETURNS TABLE (org_id uuid, room_id uuid, due text, due_at timestamptz, poker_round_version bigint)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  WITH windows AS (
    SELECT r.org_id, r.id, 'window' AS due, r.closes_at AS due_at, r.poker_round_version
    FROM rooms.rooms r
    JOIN identity.orgs o ON o.id = r.org_id AND o.status = 'active'
    WHERE r.closes_at IS NOT NULL AND r.ended_at IS NULL AND r.closes_at <= rooms.clock()
    ORDER BY r.closes_at LIMIT p_limit
    FOR NO KEY UPDATE OF r SKIP LOCKED
  ), timers AS (
    SELECT r.org_id, r.id, 'timer' AS due, r.timer_ends_at AS due_at, r.poker_round_version
    FROM rooms.rooms r
    JOIN identity.orgs o ON o.id = r.org_id AND o.status = 'active'
    WHERE r.timer_on_end = 'reveal' AND r.timer_ends_at <= now()
    ORDER BY r.timer_ends_at LIMIT p_limit
    FOR NO KEY UPDATE OF r SKIP LOCKED
  )
  SELECT * FROM windows UNION ALL SELECT * FROM timers ORDER BY 4 LIMIT p_limit;
END;

GRANT EXECUTE ON FUNCTION rooms.clock(), rooms.claim_due_standups(text, integer, interval),
  rooms.ahead_take(uuid, date), rooms.maint_prune_ahead_entries(integer) TO moothall_app;
