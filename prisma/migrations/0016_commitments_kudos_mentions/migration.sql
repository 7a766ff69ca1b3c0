-- What people say they will do and carry until it is done, whom they ask for help, and their thanks.

------------------------------------------------------------------------------------------------------------ commitments

-- What somebody said they would do: open until they say that it landed or was dropped. It belongs to the person and the
-- space; the rooms are where it was said, answered and carried last, and clearing them changes nothing else (ROOM-106).
CREATE TABLE rooms.standup_commitments (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  id platform.uuid7 NOT NULL DEFAULT platform.new_id(),
  space_id uuid NOT NULL,
  user_id uuid NOT NULL REFERENCES identity.users ON DELETE CASCADE,
  text text NOT NULL CHECK (char_length(text) BETWEEN 1 AND 500),
  opened_room_id uuid,
  closed_room_id uuid,
  carried_room_id uuid,
  closed_at timestamptz,
  closed_reason text CHECK (closed_reason IN ('landed', 'dropped')),
  carried integer NOT NULL DEFAULT 0 CHECK (carried >= 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, id),
  FOREIGN KEY (org_id, space_id) REFERENCES rooms.spaces ON DELETE CASCADE,
  FOREIGN KEY (org_id, space_id, opened_room_id) REFERENCES rooms.rooms (org_id, space_id, id)
    ON DELETE SET NULL (opened_room_id),
  FOREIGN KEY (org_id, space_id, closed_room_id) REFERENCES rooms.rooms (org_id, space_id, id)
    ON DELETE SET NULL (closed_room_id),
  FOREIGN KEY (org_id, space_id, carried_room_id) REFERENCES rooms.rooms (org_id, space_id, id)
    ON DELETE SET NULL (carried_room_id),
  CONSTRAINT standup_commitments_closed_check CHECK ((closed_at IS NULL) = (closed_reason IS NULL)),
  CONSTRAINT standup_commitments_closed_room_check CHECK (closed_room_id IS NULL OR closed_at IS NOT NULL)
);
-- The carry-over list: somebody's open ones in a space, oldest first (ROOM-101).
CREATE INDEX standup_commitments_open_idx ON rooms.standup_commitments (org_id, space_id, user_id, id)
  WHERE closed_at IS NULL;
-- Those of a space, closed ones too.
CREATE INDEX standup_commitments_of_space_idx ON rooms.standup_commitments (org_id, space_id, id);
-- These four are for foreign keys.
CREATE INDEX standup_commitments_of_user_idx ON rooms.standup_commitments (org_id, user_id);
CREATE INDEX standup_commitments_opened_idx ON rooms.standup_commitments (org_id, space_id, opened_room_id)
  WHERE opened_room_id IS NOT NULL;
CREATE INDEX standup_commitments_closed_idx ON rooms.standup_commitments (org_id, space_id, closed_room_id)
  WHERE closed_room_id IS NOT NULL;
CREATE INDEX standup_commitments_carried_idx ON rooms.standup_commitments (org_id, space_id, carried_room_id)
  WHERE carried_room_id IS NOT NULL;

-- Keeps updated_at.
CREATE TRIGGER touch BEFORE UPDATE ON rooms.standup_commitments FOR EACH ROW EXECUTE FUNCTION platform.touch();

----------------------------------------------------------------------------------------------------- people of a space

-- No key says "member": kudos, mentions and commitments are of
-- members with standing (MH022). Locks the memberships, so that nobody leaves between the look and the commit. Runs as the
-- owner, so that it sees them under any settings.
CREATE FUNCTION rooms.require_members(p_org uuid, p_space uuid, p_users uuid[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  found integer;
BEGIN
  PERFORM FROM rooms.space_members
  WHERE org_id = p_org AND space_id = p_space AND user_id = ANY (p_users) ORDER BY user_id FOR KEY SHARE;
  SELECT count(*) INTO found FROM rooms.members AS m
  WHERE m.org_id = p_org AND m.space_id = p_space AND m.user_id = ANY (p_users);
  IF found < cardinality(p_users) THEN
    RAISE EXCEPTION USING ERRCODE = 'MH022', MESSAGE = 'not a member of the space';
  END IF;
END
$$;

-- Who commits to something is a member when they do.
CREATE FUNCTION rooms.standup_commitments_member() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM rooms.require_members(NEW.org_id, NEW.space_id, ARRAY[NEW.user_id]);
  RETURN NEW;
END
$$;
CREATE TRIGGER standup_commitments_member BEFORE INSERT ON rooms.standup_commitments
  FOR EACH ROW EXECUTE FUNCTION rooms.standup_commitments_member();

------------------------------------------------------------------------------------------------------------------ kudos

-- Thanks from one member to another. Nothing counts them, and nothing here could by person (ROOM-110).
CREATE TABLE rooms.kudos (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  id platform.uuid7 NOT NULL DEFAULT platform.new_id(),
  space_id uuid NOT NULL,
  from_user_id uuid NOT NULL REFERENCES identity.users ON DELETE CASCADE,
  to_user_id uuid NOT NULL REFERENCES identity.users ON DELETE CASCADE,
  text text NOT NULL CHECK (char_length(text) BETWEEN 1 AND 280),
  room_id uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, id),
  FOREIGN KEY (org_id, space_id) REFERENCES rooms.spaces ON DELETE CASCADE,
  FOREIGN KEY (org_id, space_id, room_id) REFERENCES rooms.rooms (org_id, space_id, id) ON DELETE SET NULL (room_id),
  CONSTRAINT kudos_people_check CHECK (from_user_id <> to_user_id)
);
-- A space's wall, newest first.
CREATE INDEX kudos_of_space_idx ON rooms.kudos (org_id, space_id, created_at DESC, id DESC);
-- A room's closing beat, and its foreign key.
CREATE INDEX kudos_of_room_idx ON rooms.kudos (org_id, space_id, room_id) WHERE room_id IS NOT NULL;
-- These two are for foreign keys.
CREATE INDEX kudos_from_idx ON rooms.kudos (org_id, from_user_id);
CREATE INDEX kudos_to_idx ON rooms.kudos (org_id, to_user_id);

-- Both are members of the space when it is given, which no key can say (ROOM-109; MH022).
CREATE FUNCTION rooms.kudos_members() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM rooms.require_members(NEW.org_id, NEW.space_id, ARRAY[NEW.from_user_id, NEW.to_user_id]);
  RETURN NEW;
END
$$;
CREATE TRIGGER kudos_members BEFORE INSERT ON rooms.kudos FOR EACH ROW
  WHEN (NEW.from_user_id <> NEW.to_user_id) EXECUTE FUNCTION rooms.kudos_members();

--------------------------------------------------------------------------------------------------------------- mentions

-- "Can you help with my blocker": between two people, in one standup. Nobody else reads it (ROOM-108).
CREATE TABLE rooms.standup_mentions (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  room_id uuid NOT NULL,
  from_user_id uuid NOT NULL REFERENCES identity.users ON DELETE CASCADE,
  to_user_id uuid NOT NULL REFERENCES identity.users ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, room_id, from_user_id, to_user_id),
  FOREIGN KEY (org_id, room_id) REFERENCES rooms.rooms ON DELETE CASCADE,
  CONSTRAINT standup_mentions_people_check CHECK (from_user_id <> to_user_id)
);
-- Who asked somebody, and a foreign key.
CREATE INDEX standup_mentions_to_idx ON rooms.standup_mentions (org_id, to_user_id, room_id);
-- For its foreign key alone.
CREATE INDEX standup_mentions_from_idx ON rooms.standup_mentions (org_id, from_user_id);

-- Both are members of the room's space when one asks (ROOM-107; MH022).
CREATE FUNCTION rooms.standup_mentions_members() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  space uuid;
BEGIN
  SELECT r.space_id INTO space FROM rooms.rooms AS r WHERE r.org_id = NEW.org_id AND r.id = NEW.room_id;
  IF NOT FOUND THEN RETURN NEW; END IF; -- the foreign key says it better
  PERFORM rooms.require_members(NEW.org_id, space, ARRAY[NEW.from_user_id, NEW.to_user_id]);
  RETURN NEW;
END
$$;
CREATE TRIGGER standup_mentions_members BEFORE INSERT ON rooms.standup_mentions FOR EACH ROW
  WHEN (NEW.from_user_id <> NEW.to_user_id) EXECUTE FUNCTION rooms.standup_mentions_members();

-- Tells that somebody was asked, not who by whom: the streams read that anew (PLAT-27).
CREATE FUNCTION rooms.standup_mentions_notify() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM platform.send_hint('moothall_rooms',
    format('{"v":1,"o":"%s","r":"%s","m":1}', NEW.org_id, NEW.room_id));
  RETURN NULL;
END
$$;
CREATE TRIGGER standup_mentions_notify AFTER INSERT ON rooms.standup_mentions
  FOR EACH ROW EXECUTE FUNCTION rooms.standup_mentions_notify();

-- What these people were asked in a room: one statement for all streams attached to it (ROOM-108), in an operation that
-- has an org, no user and no guest's room. Somebody's own operation gets nothing: it reads the rows that are theirs.
CREATE FUNCTION rooms.mentions_of(p_room uuid, p_users uuid[])
RETURNS TABLE (from_user_id uuid, to_user_id uuid, created_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp ROWS 5
BEGIN ATOMIC
  SELECT m.from_user_id, m.to_user_id, m.created_at
  FROM rooms.standup_mentions m
  WHERE m.org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid) AND m.room_id = p_room
    AND m.to_user_id = ANY (p_users)
    AND (SELECT nullif(current_setting('moothall.user_id', true), '')::uuid) IS NULL
    AND (SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL
  ORDER BY m.created_at, m.from_user_id;
END;
GRANT EXECUTE ON FUNCTION rooms.mentions_of(uuid, uuid[]) TO moothall_app;

----------------------------------------------------------------------------------------------------------- row security

ALTER TABLE rooms.standup_commitments ENABLE ROW LEVEL SECURITY;
ALTER TABLE rooms.kudos ENABLE ROW LEVEL SECURITY;
ALTER TABLE rooms.standup_mentions ENABLE ROW LEVEL SECURITY;

-- An org sees its own commitments.
CREATE POLICY tenant ON rooms.standup_commitments FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- A guest sees none (ROOM-106).
CREATE POLICY guest_none ON rooms.standup_commitments AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);
-- An org sees its own kudos.
CREATE POLICY tenant ON rooms.kudos FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- A guest neither gives nor gets nor reads any (ROOM-109).
CREATE POLICY guest_none ON rooms.kudos AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);
-- The two people of a mention read it; whoever asks writes it and takes it back.
CREATE POLICY personal ON rooms.standup_mentions FOR SELECT TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid)
    AND (SELECT nullif(current_setting('moothall.user_id', true), '')::uuid) IN (from_user_id, to_user_id));
-- Nobody asks in another's name.
CREATE POLICY personal_ask ON rooms.standup_mentions FOR INSERT TO moothall_app
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid)
    AND from_user_id = (SELECT nullif(current_setting('moothall.user_id', true), '')::uuid));
-- Nobody takes back what another asked.
CREATE POLICY personal_withdraw ON rooms.standup_mentions FOR DELETE TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid)
    AND from_user_id = (SELECT nullif(current_setting('moothall.user_id', true), '')::uuid));
-- A guest can neither ask nor be asked (ROOM-107).
CREATE POLICY guest_none ON rooms.standup_mentions AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);

-- Keys, texts and created_at are written by nobody after the insert. Kudos and mentions are given and taken back.
GRANT SELECT, INSERT, DELETE, UPDATE (opened_room_id, closed_room_id, carried_room_id, closed_at, closed_reason, carried)
  ON rooms.standup_commitments TO moothall_app;
GRANT SELECT, INSERT, DELETE ON rooms.kudos, rooms.standup_mentions TO moothall_app;
