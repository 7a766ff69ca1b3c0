-- Rooms: an org's spaces, the live rooms in them, planning poker, and guests let into one room by a link.
-- Standups, kudos and the calendar feed follow in a migration of their own; the columns a room needs for them are here.
--
-- Three promises are kept by the database itself, whatever the server does:
--   a hidden card is readable by its caster alone (policies of rooms.votes),
--   a vote counts only in the round it was cast for (votes_open_round),
--   no change of a room goes unnoticed (rooms_version_guard).
--
-- Row security, per table: "tenant" holds a row to its org, "guest_none" keeps guests out, "guest_room" holds a guest
-- to the one room of their link. Members of a space are told apart by the server's queries (ROOM-6), not here.

----------------------------------------------------------------------------------------------------- spaces and members

-- A team's place. The passcode is plaintext on purpose: members read it aloud to each other.
CREATE TABLE rooms.spaces (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  id platform.uuid7 NOT NULL DEFAULT platform.new_id(),
  slug text NOT NULL CHECK (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' AND char_length(slug) <= 64),
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 64),
  passcode text NOT NULL DEFAULT '' CHECK (char_length(passcode) <= 12),
  archived_at timestamptz,
  created_by uuid REFERENCES identity.users ON DELETE SET NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, id),
  UNIQUE (org_id, slug)
);

-- The directory (ROOM-12): what is listed, in the order it is listed.
CREATE INDEX spaces_directory_idx ON rooms.spaces (org_id, name, id) WHERE archived_at IS NULL;
-- For its foreign key alone.
CREATE INDEX spaces_created_by_idx ON rooms.spaces (org_id, created_by) WHERE created_by IS NOT NULL;

-- Who belongs to a space. A row counts only while its user has standing in the org (rooms.members).
CREATE TABLE rooms.space_members (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  space_id uuid NOT NULL,
  user_id uuid NOT NULL REFERENCES identity.users ON DELETE CASCADE,
  role text NOT NULL DEFAULT 'member' CHECK (role IN ('owner', 'member')),
  spectator boolean NOT NULL DEFAULT false,
  last_seen_at timestamptz NOT NULL DEFAULT now(),
  joined_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, space_id, user_id),
  FOREIGN KEY (org_id, space_id) REFERENCES rooms.spaces ON DELETE CASCADE
);

-- The last-owner guard counts these few rows instead of all members.
CREATE INDEX space_members_owners_idx ON rooms.space_members (org_id, space_id) WHERE role = 'owner';
-- Somebody's own spaces, latest first; all rows of somebody who leaves the org.
CREATE INDEX space_members_of_user_idx ON rooms.space_members (org_id, user_id, last_seen_at DESC);

-- The members who count: active people and agents with standing in the org. What they are in the org comes along.
CREATE VIEW rooms.members WITH (security_invoker = true) AS
  SELECT m.org_id, m.space_id, m.user_id, m.role, m.spectator, m.last_seen_at, u.account, ms.role AS org_role,
    coalesce(ms.role = 'viewer', false) AS viewer
  FROM rooms.space_members AS m
  JOIN identity.users AS u ON u.id = m.user_id AND u.status = 'active'
  LEFT JOIN identity.memberships AS ms
    ON ms.org_id = m.org_id AND ms.user_id = m.user_id AND ms.joined_at IS NOT NULL AND ms.revoked_at IS NULL
  WHERE ms.user_id IS NOT NULL OR u.home_org_id = m.org_id;

-- The same of somebody who may be a member no longer. For the guards below, which run as the owner and see past row
-- security.
CREATE FUNCTION rooms.has_active_standing(p_org uuid, p_user uuid) RETURNS boolean
LANGUAGE sql STABLE
RETURN EXISTS (SELECT FROM identity.users WHERE id = p_user AND status = 'active')
  AND identity.has_standing(p_org, p_user);

-- A member has standing in the org when the row is made (MH009).
CREATE TRIGGER space_members_standing BEFORE INSERT OR UPDATE ON rooms.space_members
  FOR EACH ROW EXECUTE FUNCTION identity.require_standing('user_id');

-- A guest belongs to one room and never to a space (MH009). Definer, so that it sees the account under any settings.
CREATE FUNCTION rooms.space_member_account() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF EXISTS (SELECT FROM identity.users WHERE id = NEW.user_id AND account = 'guest') THEN
    RAISE EXCEPTION USING ERRCODE = 'MH009', MESSAGE = 'a guest cannot be a member of a space',
      SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, COLUMN = 'user_id', CONSTRAINT = TG_NAME;
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER space_members_no_guest BEFORE INSERT OR UPDATE OF user_id ON rooms.space_members
  FOR EACH ROW EXECUTE FUNCTION rooms.space_member_account();

-- A space keeps an owner with standing (MH007). Looks at COMMIT, so that owners may change places in one transaction,
-- and locks the space before it counts, so that of two owners demoting each other the second sees the first. Nothing
-- is taken from an owner without standing (their space may stand abandoned, ROOM-18) or in an org that is being
-- purged.
CREATE FUNCTION rooms.space_last_owner() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF NOT rooms.has_active_standing(OLD.org_id, OLD.user_id)
     OR EXISTS (SELECT FROM identity.orgs WHERE id = OLD.org_id AND status IN ('purging', 'purged')) THEN
    RETURN NULL;
  END IF;
  PERFORM FROM rooms.spaces WHERE org_id = OLD.org_id AND id = OLD.space_id FOR NO KEY UPDATE;
  IF FOUND AND NOT EXISTS (
    SELECT FROM rooms.members AS m
    WHERE m.org_id = OLD.org_id AND m.space_id = OLD.space_id AND m.role = 'owner'
  ) THEN
    RAISE EXCEPTION USING ERRCODE = 'MH007', MESSAGE = 'a space keeps an owner',
      SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
  END IF;
  RETURN NULL;
END
$$;
-- Demoting an owner.
CREATE CONSTRAINT TRIGGER space_last_owner_demoted AFTER UPDATE OF role ON rooms.space_members
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.role = 'owner' AND NEW.role <> 'owner')
  EXECUTE FUNCTION rooms.space_last_owner();
-- Removing an owner, or an owner leaving.
CREATE CONSTRAINT TRIGGER space_last_owner_gone AFTER DELETE ON rooms.space_members
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.role = 'owner')
  EXECUTE FUNCTION rooms.space_last_owner();

-- Keeps updated_at.
CREATE TRIGGER touch BEFORE UPDATE ON rooms.spaces FOR EACH ROW EXECUTE FUNCTION platform.touch();

------------------------------------------------------------------------------------------------------------- room kinds

-- What a room can be, per org: one org's plugin kind never stands in another's way. Retired in place, never deleted.
-- The plugins body adds the foreign key of install_id.
CREATE TABLE rooms.room_kinds (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  kind text NOT NULL CHECK (kind ~ '^[a-z][a-z0-9_.-]*$' AND char_length(kind) <= 64),
  provider text NOT NULL CHECK (char_length(provider) BETWEEN 1 AND 64),
  display text NOT NULL CHECK (char_length(display) BETWEEN 1 AND 64),
  retired_at timestamptz,
  install_id uuid,
  actions jsonb NOT NULL DEFAULT '{}'
    CHECK (jsonb_typeof(actions) = 'object' AND octet_length(actions::text) <= 65536),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, kind),
  CONSTRAINT room_kinds_core_actions_check CHECK (provider <> 'core' OR actions = '{}'),
  CONSTRAINT room_kinds_install_check CHECK (install_id IS NULL OR (provider <> 'core' AND retired_at IS NULL))
);
-- The kinds of one plugin.
CREATE INDEX room_kinds_install_idx ON rooms.room_kinds (org_id, install_id) WHERE install_id IS NOT NULL;

-- Core kinds are made and changed by migrations alone: no plugin may pass for one, no mistake may retire one (MH008).
CREATE FUNCTION rooms.room_kinds_guard() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF NEW.provider = 'core' AND NOT pg_has_role(current_user, 'moothall_owner', 'USAGE') THEN
    RAISE EXCEPTION USING ERRCODE = 'MH008', MESSAGE = 'core kinds are fixed',
      SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER room_kinds_guard BEFORE INSERT OR UPDATE ON rooms.room_kinds
  FOR EACH ROW EXECUTE FUNCTION rooms.room_kinds_guard();

-- The core kinds an org is born with. Definer, because the app may not insert them; replaced as core kinds are added.
CREATE FUNCTION rooms.org_room_kinds() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  INSERT INTO rooms.room_kinds (org_id, kind, provider, display) VALUES (NEW.id, 'poker', 'core', 'Planning poker');
  RETURN NULL;
END
$$;
CREATE TRIGGER org_room_kinds AFTER INSERT ON identity.orgs FOR EACH ROW EXECUTE FUNCTION rooms.org_room_kinds();

INSERT INTO rooms.room_kinds (org_id, kind, provider, display)
SELECT id, 'poker', 'core', 'Planning poker' FROM identity.orgs WHERE status IN ('active', 'archived');

------------------------------------------------------------------------------------------------------------------ rooms

-- One ceremony. The version rises with every change that somebody in the room could see.
CREATE TABLE rooms.rooms (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  id platform.uuid7 NOT NULL DEFAULT platform.new_id(),
  space_id uuid NOT NULL,
  kind text NOT NULL,
  title text NOT NULL CHECK (char_length(title) BETWEEN 1 AND 200),
  config jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(config) = 'object' AND octet_length(config::text) <= 32768),
  phase text NOT NULL CHECK (char_length(phase) BETWEEN 1 AND 64),
  version bigint NOT NULL DEFAULT 1,
  facilitator_id uuid REFERENCES identity.users ON DELETE NO ACTION,
  facilitator_seen_at timestamptz,
  -- Poker: the story on the table and its round.
  current_story_id uuid,
  revealed boolean NOT NULL DEFAULT false,
  poker_round_version bigint NOT NULL DEFAULT 0,
  -- Standup: whose turn it is, and when an asynchronous one closes.
  current_speaker_id uuid REFERENCES identity.users ON DELETE NO ACTION,
  speaker_started_at timestamptz,
  closes_at timestamptz,
  timer_started_at timestamptz,
  timer_ends_at timestamptz,
  timer_on_end text NOT NULL DEFAULT 'none' CHECK (timer_on_end IN ('none', 'reveal')),
  ended_at timestamptz,
  first_ended_at timestamptz,
  -- A plugin kind's own state; the core kinds keep theirs in columns and tables.
  state jsonb NOT NULL DEFAULT '{}' CHECK (octet_length(state::text) <= 262144),
  created_by uuid REFERENCES identity.users ON DELETE SET NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, id),
  UNIQUE (org_id, space_id, id),
  FOREIGN KEY (org_id, space_id) REFERENCES rooms.spaces ON DELETE CASCADE,
  FOREIGN KEY (org_id, kind) REFERENCES rooms.room_kinds ON DELETE RESTRICT,
  CONSTRAINT rooms_ended_check CHECK ((phase = 'done') = (ended_at IS NOT NULL)),
  CONSTRAINT rooms_poker_phase_check CHECK (kind <> 'poker' OR phase IN ('active', 'done')),
  CONSTRAINT rooms_standup_phase_check CHECK (kind <> 'standup' OR phase IN ('gather', 'speak', 'done')),
  CONSTRAINT rooms_speaker_check CHECK (current_speaker_id IS NULL OR phase = 'speak'),
  CONSTRAINT rooms_poker_columns_check
    CHECK (kind = 'poker' OR (NOT revealed AND poker_round_version = 0 AND current_story_id IS NULL)),
  CONSTRAINT rooms_plugin_state_check CHECK (kind NOT IN ('poker', 'standup') OR state = '{}'),
  CONSTRAINT rooms_timer_check
    CHECK ((timer_started_at IS NULL) = (timer_ends_at IS NULL) AND timer_ends_at > timer_started_at)
);
-- A space's rooms, newest first.
CREATE INDEX rooms_of_space_idx ON rooms.rooms (org_id, space_id, created_at DESC, id DESC);
-- These five are for foreign keys; a departing facilitator's or speaker's rooms are found by theirs, too.
CREATE INDEX rooms_of_kind_idx ON rooms.rooms (org_id, kind);
CREATE INDEX rooms_current_story_idx ON rooms.rooms (org_id, id, current_story_id) WHERE current_story_id IS NOT NULL;
CREATE INDEX rooms_facilitator_idx ON rooms.rooms (org_id, facilitator_id) WHERE facilitator_id IS NOT NULL;
CREATE INDEX rooms_speaker_idx ON rooms.rooms (org_id, current_speaker_id) WHERE current_speaker_id IS NOT NULL;
CREATE INDEX rooms_created_by_idx ON rooms.rooms (org_id, created_by) WHERE created_by IS NOT NULL;
-- claim_due_rooms looks across orgs for windows that end …
CREATE INDEX rooms_due_windows_idx ON rooms.rooms (closes_at) WHERE closes_at IS NOT NULL AND ended_at IS NULL;
-- … and for timers that reveal.
CREATE INDEX rooms_due_timers_idx ON rooms.rooms (timer_ends_at) WHERE timer_on_end = 'reveal';

-- A room is led by somebody with standing in the org, looked at when they are named (ID-8; MH009).
CREATE TRIGGER rooms_facilitator_standing BEFORE INSERT OR UPDATE OF facilitator_id ON rooms.rooms
  FOR EACH ROW WHEN (NEW.facilitator_id IS NOT NULL) EXECUTE FUNCTION identity.require_standing('facilitator_id');

-- A room walks its kind's edges only and starts where its kind starts (ROOM-32; MH010). A plugin's phases are those its
-- kind declares; any of them may end, and a retired kind keeps its declaration, so its rooms can still be ended.
CREATE FUNCTION rooms.rooms_phase_guard() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  step CONSTANT text := CASE TG_OP WHEN 'INSERT' THEN '' ELSE OLD.phase END || '>' || NEW.phase;
  declared jsonb;
BEGIN
  IF NEW.kind = 'poker' THEN
    IF step IN ('>active', 'active>done', 'done>active') THEN RETURN NEW; END IF;
  ELSIF NEW.kind = 'standup' THEN
    IF step IN ('>gather', 'gather>speak', 'speak>gather', 'gather>done', 'speak>done', 'done>gather') THEN
      RETURN NEW;
    END IF;
  ELSE
    SELECT k.actions INTO declared FROM rooms.room_kinds k WHERE k.org_id = NEW.org_id AND k.kind = NEW.kind;
    IF NOT FOUND THEN RETURN NEW; END IF; -- the foreign key says it better
    IF TG_OP = 'INSERT' THEN
      IF NEW.phase = declared ->> 'initial' THEN RETURN NEW; END IF;
    ELSIF NEW.phase = 'done' OR declared -> 'phases' ? NEW.phase THEN
      RETURN NEW;
    END IF;
  END IF;
  RAISE EXCEPTION USING ERRCODE = 'MH010', MESSAGE = format('no such step of a room: %s', step),
    SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, COLUMN = 'phase', CONSTRAINT = 'rooms_phase_guard';
END
$$;
-- The first phase.
CREATE TRIGGER rooms_phase_guard_initial BEFORE INSERT ON rooms.rooms
  FOR EACH ROW EXECUTE FUNCTION rooms.rooms_phase_guard();
-- Every later one.
CREATE TRIGGER rooms_phase_guard BEFORE UPDATE ON rooms.rooms
  FOR EACH ROW WHEN (OLD.phase <> NEW.phase) EXECUTE FUNCTION rooms.rooms_phase_guard();

-- The live stream follows `version`, so no change may pass without one, and none may take two (MH021). What was
-- forgotten is added: the version itself, and the new round that another story on the table means, together with
-- whether that story is revealed. The facilitator's sign of life is no change (ROOM-41).
CREATE FUNCTION rooms.rooms_version_guard() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  seen rooms.rooms := NEW;
BEGIN
  IF NEW.current_story_id IS DISTINCT FROM OLD.current_story_id THEN
    IF NEW.poker_round_version = OLD.poker_round_version THEN
      NEW.poker_round_version := OLD.poker_round_version + 1;
    ELSIF NEW.poker_round_version <> OLD.poker_round_version + 1 THEN
      RAISE EXCEPTION USING ERRCODE = 'MH021', MESSAGE = 'a new story on the table is the next round',
        SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, COLUMN = 'poker_round_version', CONSTRAINT = TG_NAME;
    END IF;
    NEW.revealed := EXISTS (
      SELECT FROM rooms.stories s
      WHERE s.org_id = NEW.org_id AND s.id = NEW.current_story_id AND s.revealed_at IS NOT NULL);
  ELSIF NEW.poker_round_version < OLD.poker_round_version THEN
    RAISE EXCEPTION USING ERRCODE = 'MH021', MESSAGE = 'a round version never falls',
      SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, COLUMN = 'poker_round_version', CONSTRAINT = TG_NAME;
  END IF;

  IF NEW.version = OLD.version THEN
    seen := NEW;
    seen.facilitator_seen_at := OLD.facilitator_seen_at;
    seen.updated_at := OLD.updated_at;
    IF seen IS DISTINCT FROM OLD THEN
      NEW.version := OLD.version + 1;
    END IF;
  ELSIF NEW.version IS DISTINCT FROM OLD.version + 1 THEN
    RAISE EXCEPTION USING ERRCODE = 'MH021', MESSAGE = 'a room changes by one version at a time',
      SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, COLUMN = 'version', CONSTRAINT = TG_NAME;
  END IF;
  RETURN NEW;
END
$$;
-- Every UPDATE, whoever makes it: the app, a function, a foreign key.
CREATE TRIGGER rooms_version_guard BEFORE UPDATE ON rooms.rooms
  FOR EACH ROW EXECUTE FUNCTION rooms.rooms_version_guard();

-- That a room once ended is told once, also after reopening (ROOM-182; MH008).
CREATE TRIGGER rooms_first_ended BEFORE UPDATE OF first_ended_at ON rooms.rooms
  FOR EACH ROW EXECUTE FUNCTION platform.set_once('first_ended_at');
-- Keeps updated_at.
CREATE TRIGGER touch BEFORE UPDATE ON rooms.rooms FOR EACH ROW EXECUTE FUNCTION platform.touch();

-------------------------------------------------------------------------------------------------------- the live stream

-- What happened in a room, one row a version, kept for a day so that a reconnecting stream can catch up. A payload
-- holds what its audience may see, and never a card of a round not yet revealed.
CREATE TABLE rooms.room_events (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  room_id uuid NOT NULL,
  version bigint NOT NULL,
  type text NOT NULL CHECK (char_length(type) BETWEEN 1 AND 64),
  actor_id uuid, -- no foreign key: who acted stays said when the person is gone
  audience text NOT NULL CHECK (audience IN ('all', 'members')),
  payload jsonb NOT NULL DEFAULT '{}' CHECK (octet_length(payload::text) <= 65536),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, room_id, version),
  FOREIGN KEY (org_id, room_id) REFERENCES rooms.rooms ON DELETE CASCADE
);
-- Pruning goes by age, across orgs.
CREATE INDEX room_events_age_idx ON rooms.room_events (created_at);

-- Who is connected, one row a connection, so that closing one of two tabs leaves the person present. Unlogged: after a
-- crash of the database everybody is connecting anew anyway.
CREATE UNLOGGED TABLE rooms.room_presence (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  room_id uuid NOT NULL,
  connection_id uuid NOT NULL,
  user_id uuid NOT NULL REFERENCES identity.users ON DELETE CASCADE,
  last_seen_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, room_id, connection_id),
  FOREIGN KEY (org_id, room_id) REFERENCES rooms.rooms ON DELETE CASCADE
);
CREATE INDEX room_presence_of_user_idx ON rooms.room_presence (org_id, room_id, user_id);
-- The sweep finds the silent ones, across orgs.
CREATE INDEX room_presence_age_idx ON rooms.room_presence (last_seen_at);

-- The one sender on channel moothall_rooms (ROOM-175): which room changed, with "p" when only who is present did. Equal
-- payloads of a transaction arrive once. A coalescing sender would take this function's place.
CREATE FUNCTION rooms.notify_room(p_org uuid, p_room uuid, p_presence boolean DEFAULT false) RETURNS void
LANGUAGE sql VOLATILE
BEGIN ATOMIC
  SELECT pg_notify('moothall_rooms',
    format('{"v":1,"o":"%s","r":"%s"%s}', p_org, p_room, CASE WHEN p_presence THEN ',"p":1' END));
END;

-- Tells of the rooms that a statement stored events of, or whose presence rows it made or removed (argument
-- `presence`).
CREATE FUNCTION rooms.notify_rooms() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM rooms.notify_room(org_id, room_id, TG_NARGS > 0)
  FROM (SELECT DISTINCT org_id, room_id FROM changed) AS room;
  RETURN NULL;
END
$$;

-- Tells of deleted rooms, whose streams end (ROOM-34).
CREATE FUNCTION rooms.notify_deleted_rooms() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM rooms.notify_room(org_id, id) FROM changed;
  RETURN NULL;
END
$$;

-- A stored event wakes the room's streams.
CREATE TRIGGER room_events_notify AFTER INSERT ON rooms.room_events
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION rooms.notify_rooms();
-- Somebody connected. A heartbeat only updates its row and tells nobody.
CREATE TRIGGER room_presence_notify_came AFTER INSERT ON rooms.room_presence
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION rooms.notify_rooms('presence');
-- Somebody disconnected, departed or fell silent.
CREATE TRIGGER room_presence_notify_went AFTER DELETE ON rooms.room_presence
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION rooms.notify_rooms('presence');
-- The room is gone, and with it its stored events.
CREATE TRIGGER rooms_notify_deleted AFTER DELETE ON rooms.rooms
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION rooms.notify_deleted_rooms();

-- Who ever took part, in order of arrival; at most 200 a room, held by the server (ROOM-51).
CREATE TABLE rooms.room_participants (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  room_id uuid NOT NULL,
  user_id uuid NOT NULL REFERENCES identity.users ON DELETE CASCADE,
  joined_at timestamptz NOT NULL DEFAULT now(),
  cofacilitator boolean NOT NULL DEFAULT false,
  PRIMARY KEY (org_id, room_id, user_id),
  FOREIGN KEY (org_id, room_id) REFERENCES rooms.rooms ON DELETE CASCADE
);
CREATE INDEX room_participants_order_idx ON rooms.room_participants (org_id, room_id, joined_at);
CREATE INDEX room_participants_of_user_idx ON rooms.room_participants (org_id, user_id);

------------------------------------------------------------------------------------------------------- links and guests

-- A key to one room for a day. Revoked in place; goes with its room only.
CREATE TABLE rooms.room_links (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  id platform.uuid7 NOT NULL DEFAULT platform.new_id(),
  room_id uuid NOT NULL,
  created_by uuid REFERENCES identity.users ON DELETE SET NULL,
  token_hash bytea NOT NULL CHECK (octet_length(token_hash) = 32),
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz,
  redemptions integer NOT NULL DEFAULT 0 CHECK (redemptions BETWEEN 0 AND 50),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, id),
  UNIQUE (org_id, room_id, id),
  FOREIGN KEY (org_id, room_id) REFERENCES rooms.rooms ON DELETE CASCADE,
  CONSTRAINT room_links_lifetime_check CHECK (expires_at <= created_at + interval '24 hours')
);
-- Global, because a link is looked up before any org is known.
CREATE UNIQUE INDEX room_links_token_hash_key ON rooms.room_links (token_hash);
-- For its foreign key alone.
CREATE INDEX room_links_created_by_idx ON rooms.room_links (org_id, created_by) WHERE created_by IS NOT NULL;

-- A revoked link stays revoked (MH008).
CREATE TRIGGER room_links_revoked BEFORE UPDATE OF revoked_at ON rooms.room_links
  FOR EACH ROW EXECUTE FUNCTION platform.set_once('revoked_at');

-- Which browser is which guest of which link. That somebody is a guest at all is said by identity.users.account.
CREATE TABLE rooms.room_guests (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  user_id uuid NOT NULL REFERENCES identity.users ON DELETE CASCADE,
  room_id uuid NOT NULL,
  link_id uuid NOT NULL,
  guest_key_hash bytea NOT NULL CHECK (octet_length(guest_key_hash) = 32),
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, user_id),
  UNIQUE (org_id, link_id, guest_key_hash),
  FOREIGN KEY (org_id, room_id, link_id) REFERENCES rooms.room_links (org_id, room_id, id) ON DELETE CASCADE
);
CREATE INDEX room_guests_of_room_idx ON rooms.room_guests (org_id, room_id);

------------------------------------------------------------------------------------------------------------------ poker

-- A space's own decks. A room copies the cards, so nothing refers to a deck; what a card may be is the server's rule.
CREATE TABLE rooms.decks (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  id platform.uuid7 NOT NULL DEFAULT platform.new_id(),
  space_id uuid NOT NULL,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 64),
  cards text[] NOT NULL,
  ordinal boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, id),
  UNIQUE (org_id, space_id, name),
  FOREIGN KEY (org_id, space_id) REFERENCES rooms.spaces ON DELETE CASCADE
);
-- Keeps updated_at.
CREATE TRIGGER touch BEFORE UPDATE ON rooms.decks FOR EACH ROW EXECUTE FUNCTION platform.touch();

-- What a poker room estimates, in order of (position, id). revealed_at decides who may read the votes.
CREATE TABLE rooms.stories (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  id platform.uuid7 NOT NULL DEFAULT platform.new_id(),
  room_id uuid NOT NULL,
  title text NOT NULL DEFAULT '' CHECK (char_length(title) <= 200),
  notes text NOT NULL DEFAULT '' CHECK (char_length(notes) <= 2000),
  ref text NOT NULL DEFAULT '' CHECK (char_length(ref) <= 40),
  position double precision NOT NULL CHECK (position > '-Infinity' AND position < 'Infinity'), -- NaN sorts above both
  estimate text CHECK (char_length(estimate) BETWEEN 1 AND 16),
  quick boolean NOT NULL DEFAULT false,
  revealed_at timestamptz,
  created_by uuid REFERENCES identity.users ON DELETE SET NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, id),
  UNIQUE (org_id, room_id, id),
  FOREIGN KEY (org_id, room_id) REFERENCES rooms.rooms ON DELETE CASCADE,
  CONSTRAINT stories_named_check CHECK (btrim(title) <> '' OR btrim(ref) <> '')
);
CREATE INDEX stories_order_idx ON rooms.stories (org_id, room_id, position, id);
-- For its foreign key alone.
CREATE INDEX stories_created_by_idx ON rooms.stories (org_id, created_by) WHERE created_by IS NOT NULL;

-- Deleting the story on the table empties the table; rooms_version_guard makes that the next round (ROOM-60).
ALTER TABLE rooms.rooms ADD CONSTRAINT rooms_current_story_fkey
  FOREIGN KEY (org_id, id, current_story_id) REFERENCES rooms.stories (org_id, room_id, id)
  ON DELETE SET NULL (current_story_id);

-- A vote belongs to one round of one story; who may read its card is decided by the policies below, not by the server.
CREATE TABLE rooms.votes (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  room_id uuid NOT NULL,
  story_id uuid NOT NULL,
  user_id uuid NOT NULL REFERENCES identity.users ON DELETE CASCADE,
  card text NOT NULL CHECK (char_length(card) BETWEEN 1 AND 16),
  round_version bigint NOT NULL,
  cast_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, story_id, user_id),
  FOREIGN KEY (org_id, room_id, story_id) REFERENCES rooms.stories (org_id, room_id, id) ON DELETE CASCADE
);
CREATE INDEX votes_of_room_idx ON rooms.votes (org_id, room_id);
CREATE INDEX votes_of_user_idx ON rooms.votes (org_id, user_id);

-- A vote is taken only by the open round it was cast for (MH020). The room is read FOR SHARE, then its story: a reveal
-- under way is waited for and then seen, and a reveal that comes later waits for this vote and counts it (ROOM-71).
CREATE FUNCTION rooms.votes_open_round() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  room record;
  story record;
BEGIN
  SELECT current_story_id, revealed, ended_at, poker_round_version INTO room
  FROM rooms.rooms WHERE org_id = NEW.org_id AND id = NEW.room_id FOR SHARE;
  IF room.current_story_id = NEW.story_id AND NOT room.revealed AND room.ended_at IS NULL
     AND room.poker_round_version = NEW.round_version THEN
    SELECT revealed_at INTO story FROM rooms.stories WHERE org_id = NEW.org_id AND id = NEW.story_id FOR SHARE;
    IF FOUND AND story.revealed_at IS NULL THEN
      RETURN NEW;
    END IF;
  END IF;
  RAISE EXCEPTION USING ERRCODE = 'MH020', MESSAGE = 'the round is closed',
    SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
END
$$;
CREATE TRIGGER votes_open_round BEFORE INSERT OR UPDATE ON rooms.votes
  FOR EACH ROW EXECUTE FUNCTION rooms.votes_open_round();
-- Keeps updated_at.
CREATE TRIGGER touch BEFORE UPDATE ON rooms.votes FOR EACH ROW EXECUTE FUNCTION platform.touch();

-- What everybody has read cannot become secret again: a story is hidden anew only without votes (ROOM-65; MH010).
-- Definer, so that it counts every vote, whoever asks.
CREATE FUNCTION rooms.stories_unreveal() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF EXISTS (SELECT FROM rooms.votes WHERE org_id = OLD.org_id AND story_id = OLD.id) THEN
    RAISE EXCEPTION USING ERRCODE = 'MH010', MESSAGE = 'a story with votes stays revealed',
      SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, COLUMN = 'revealed_at', CONSTRAINT = TG_NAME;
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER stories_unreveal BEFORE UPDATE OF revealed_at ON rooms.stories
  FOR EACH ROW WHEN (OLD.revealed_at IS NOT NULL AND NEW.revealed_at IS NULL)
  EXECUTE FUNCTION rooms.stories_unreveal();
-- Keeps updated_at.
CREATE TRIGGER touch BEFORE UPDATE ON rooms.stories FOR EACH ROW EXECUTE FUNCTION platform.touch();

-- With open voting: whom a round waits for, as of its opening (ROOM-67).
CREATE TABLE rooms.round_voters (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  room_id uuid NOT NULL,
  story_id uuid NOT NULL,
  user_id uuid NOT NULL REFERENCES identity.users ON DELETE CASCADE,
  PRIMARY KEY (org_id, story_id, user_id),
  FOREIGN KEY (org_id, room_id, story_id) REFERENCES rooms.stories (org_id, room_id, id) ON DELETE CASCADE
);
CREATE INDEX round_voters_of_user_idx ON rooms.round_voters (org_id, room_id, user_id);

----------------------------------------------------------------------------------------------- what identity waited for

-- A deleted room leaves its guests' accounts, which stay guests (identity.users.account).
ALTER TABLE identity.users ADD CONSTRAINT users_link_fkey
  FOREIGN KEY (home_org_id, link_id) REFERENCES rooms.room_links (org_id, id) ON DELETE SET NULL (link_id);

-- A guest's sign-in is for one room and one link of that room, and ends with the room.
ALTER TABLE identity.sessions
  ADD CONSTRAINT sessions_room_fkey FOREIGN KEY (org_id, room_id) REFERENCES rooms.rooms ON DELETE CASCADE,
  ADD CONSTRAINT sessions_link_fkey FOREIGN KEY (org_id, room_id, link_id)
    REFERENCES rooms.room_links (org_id, room_id, id) ON DELETE CASCADE;
-- Guests' sign-ins alone name a room; deleting a room finds them here.
CREATE INDEX sessions_of_room_idx ON identity.sessions (org_id, room_id, link_id) WHERE room_id IS NOT NULL;

----------------------------------------------------------------------------------------------------------- row security

ALTER TABLE rooms.spaces ENABLE ROW LEVEL SECURITY;
ALTER TABLE rooms.space_members ENABLE ROW LEVEL SECURITY;
ALTER TABLE rooms.room_kinds ENABLE ROW LEVEL SECURITY;
ALTER TABLE rooms.rooms ENABLE ROW LEVEL SECURITY;
ALTER TABLE rooms.room_events ENABLE ROW LEVEL SECURITY;
ALTER TABLE rooms.room_presence ENABLE ROW LEVEL SECURITY;
ALTER TABLE rooms.room_participants ENABLE ROW LEVEL SECURITY;
ALTER TABLE rooms.room_links ENABLE ROW LEVEL SECURITY;
ALTER TABLE rooms.room_guests ENABLE ROW LEVEL SECURITY;
ALTER TABLE rooms.decks ENABLE ROW LEVEL SECURITY;
ALTER TABLE rooms.stories ENABLE ROW LEVEL SECURITY;
ALTER TABLE rooms.votes ENABLE ROW LEVEL SECURITY;
ALTER TABLE rooms.round_voters ENABLE ROW LEVEL SECURITY;

-- An org sees its own spaces.
CREATE POLICY tenant ON rooms.spaces FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- A guest knows a room, not the space it is in.
CREATE POLICY guest_none ON rooms.spaces AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);
-- An org sees its own members.
CREATE POLICY tenant ON rooms.space_members FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- A guest learns who is in the room from rooms.room_people alone.
CREATE POLICY guest_none ON rooms.space_members AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);
-- An org sees its own kinds; a guest reads the kind of their room.
CREATE POLICY tenant ON rooms.room_kinds FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- A guest reads what kinds of room there are, and adds or changes none.
CREATE POLICY guest_insert ON rooms.room_kinds AS RESTRICTIVE FOR INSERT TO moothall_app
  WITH CHECK ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);
CREATE POLICY guest_update ON rooms.room_kinds AS RESTRICTIVE FOR UPDATE TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);
-- An org sees its own rooms.
CREATE POLICY tenant ON rooms.rooms FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- A guest sees and changes one room.
CREATE POLICY guest_room ON rooms.rooms AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL
    OR id = (SELECT nullif(current_setting('moothall.room_id', true), '')::uuid));
-- An org sees its own live events.
CREATE POLICY tenant ON rooms.room_events FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- A guest follows one room.
CREATE POLICY guest_room ON rooms.room_events AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL
    OR room_id = (SELECT nullif(current_setting('moothall.room_id', true), '')::uuid));
-- An org sees its own connections.
CREATE POLICY tenant ON rooms.room_presence FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- A guest connects to one room and sees who is there.
CREATE POLICY guest_room ON rooms.room_presence AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL
    OR room_id = (SELECT nullif(current_setting('moothall.room_id', true), '')::uuid));
-- An org sees its own participants.
CREATE POLICY tenant ON rooms.room_participants FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- A guest sees who takes part in one room.
CREATE POLICY guest_room ON rooms.room_participants AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL
    OR room_id = (SELECT nullif(current_setting('moothall.room_id', true), '')::uuid));
-- An org sees its own links.
CREATE POLICY tenant ON rooms.room_links FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- A guest sees no link, not even the one they came by.
CREATE POLICY guest_none ON rooms.room_links AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);
-- An org sees its own guests.
CREATE POLICY tenant ON rooms.room_guests FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- A guest sees the guests of one room.
CREATE POLICY guest_room ON rooms.room_guests AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL
    OR room_id = (SELECT nullif(current_setting('moothall.room_id', true), '')::uuid));
-- An org sees its own decks.
CREATE POLICY tenant ON rooms.decks FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- A guest sees the room's cards, not the decks of its space.
CREATE POLICY guest_none ON rooms.decks AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);
-- An org sees its own stories.
CREATE POLICY tenant ON rooms.stories FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- A guest sees the stories of one room.
CREATE POLICY guest_room ON rooms.stories AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL
    OR room_id = (SELECT nullif(current_setting('moothall.room_id', true), '')::uuid));
-- An org sees its own votes …
CREATE POLICY tenant ON rooms.votes FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- … a guest those of one room …
CREATE POLICY guest_room ON rooms.votes AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL
    OR room_id = (SELECT nullif(current_setting('moothall.room_id', true), '')::uuid));
-- … and nobody but its caster reads a card before the reveal, whatever the query.
CREATE POLICY votes_secret ON rooms.votes AS RESTRICTIVE FOR SELECT TO moothall_app
  USING (user_id = (SELECT nullif(current_setting('moothall.user_id', true), '')::uuid)
    OR EXISTS (SELECT FROM rooms.stories s
               WHERE s.org_id = votes.org_id AND s.id = votes.story_id AND s.revealed_at IS NOT NULL));
-- A vote is cast by its own voter. Without this, ON CONFLICT … WHERE card = … on another's row would tell their card:
-- the condition is evaluated before the policies of the row in conflict are.
CREATE POLICY votes_own ON rooms.votes AS RESTRICTIVE FOR INSERT TO moothall_app
  WITH CHECK (user_id = (SELECT nullif(current_setting('moothall.user_id', true), '')::uuid));
-- Only one's own vote can be changed, and only while the story is hidden.
CREATE POLICY votes_own_change ON rooms.votes AS RESTRICTIVE FOR UPDATE TO moothall_app
  USING (user_id = (SELECT nullif(current_setting('moothall.user_id', true), '')::uuid)
    AND EXISTS (SELECT FROM rooms.stories s
                WHERE s.org_id = votes.org_id AND s.id = votes.story_id AND s.revealed_at IS NULL));
-- Only one's own vote can be taken back, and only while the story is hidden; rooms.round_clear does what hosts may do.
CREATE POLICY votes_own_removal ON rooms.votes AS RESTRICTIVE FOR DELETE TO moothall_app
  USING (user_id = (SELECT nullif(current_setting('moothall.user_id', true), '')::uuid)
    AND EXISTS (SELECT FROM rooms.stories s
                WHERE s.org_id = votes.org_id AND s.id = votes.story_id AND s.revealed_at IS NULL));
-- An org sees its own rounds.
CREATE POLICY tenant ON rooms.round_voters FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- A guest sees whom the rounds of one room wait for.
CREATE POLICY guest_room ON rooms.round_voters AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL
    OR room_id = (SELECT nullif(current_setting('moothall.room_id', true), '')::uuid));
-- A guest sees who takes part in the room, though no membership is visible to them …
CREATE POLICY users_of_room ON identity.users FOR SELECT TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NOT NULL
    AND EXISTS (SELECT FROM rooms.room_participants p
               WHERE p.org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid)
                 AND p.room_id = (SELECT nullif(current_setting('moothall.room_id', true), '')::uuid)
                 AND p.user_id = users.id));
-- … themselves, and nobody else of the org.
ALTER POLICY guest_people ON identity.users
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL
    OR id = (SELECT nullif(current_setting('moothall.user_id', true), '')::uuid)
    OR EXISTS (SELECT FROM rooms.room_participants p
               WHERE p.org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid)
                 AND p.room_id = (SELECT nullif(current_setting('moothall.room_id', true), '')::uuid)
                 AND p.user_id = users.id));

----------------------------------------------------------------------------------------------------------------- grants

-- Keys, created_* and updated_at are written by nobody after the insert; DELETE only where a row may go for good.
GRANT SELECT, INSERT, DELETE, UPDATE (slug, name, passcode, archived_at) ON rooms.spaces TO moothall_app;
GRANT SELECT, INSERT, DELETE, UPDATE (role, spectator, last_seen_at) ON rooms.space_members TO moothall_app;
GRANT SELECT ON rooms.members TO moothall_app;
GRANT SELECT, INSERT, UPDATE (display, retired_at, install_id, actions) ON rooms.room_kinds TO moothall_app;
GRANT SELECT, INSERT, DELETE,
  UPDATE (title, config, phase, version, facilitator_id, facilitator_seen_at, current_story_id, revealed,
    poker_round_version, current_speaker_id, speaker_started_at, closes_at, timer_started_at, timer_ends_at,
    timer_on_end, ended_at, first_ended_at, state) ON rooms.rooms TO moothall_app;
GRANT SELECT, INSERT ON rooms.room_events TO moothall_app;
GRANT SELECT, INSERT, DELETE, UPDATE (last_seen_at) ON rooms.room_presence TO moothall_app;
GRANT SELECT, INSERT, DELETE, UPDATE (cofacilitator) ON rooms.room_participants TO moothall_app;
-- The hash of a link's token is found by rooms.preauth_room_link and read by nobody.
GRANT SELECT (org_id, id, room_id, created_by, expires_at, revoked_at, redemptions, created_at), INSERT,
  UPDATE (revoked_at, redemptions) ON rooms.room_links TO moothall_app;
GRANT SELECT, INSERT, DELETE ON rooms.room_guests TO moothall_app;
GRANT SELECT, INSERT, DELETE, UPDATE (name, cards, ordinal) ON rooms.decks TO moothall_app;
GRANT SELECT, INSERT, DELETE, UPDATE (title, notes, ref, position, estimate, quick, revealed_at)
  ON rooms.stories TO moothall_app;
GRANT SELECT, INSERT, DELETE, UPDATE (card, round_version, cast_at) ON rooms.votes TO moothall_app;
GRANT SELECT, INSERT, DELETE ON rooms.round_voters TO moothall_app;

-- The triggers on events and presence run as whoever writes.
GRANT EXECUTE ON FUNCTION rooms.notify_room(uuid, uuid, boolean) TO moothall_app;

---------------------------------------------------------------------------------------------- who is in a room (ROOM-6)

-- Everybody a room is for: members of its space with standing, and guests that a link let in, also once their time is
-- over, since their votes stay. Runs with its caller's rights; called by the functions below alone.
--   spectator   an org's viewers always are (ROOM-22)
--   sees        may see the room now; a guest whose link ran out or was revoked may not
--   can_vote    sees, and is no spectator
-- The migration that brings agents replaces it: a suspended agent sees nothing, one in mode `read` casts nothing.
-- It costs what its space costs, whatever the planner believes of the org: the room's space is looked up before its
-- members are, and OFFSET 0 has each member's account looked up by key. It is inlined where it is called, so no argument
-- may be a sub-select.
CREATE FUNCTION rooms.room_circle(p_org uuid, p_room uuid)
RETURNS TABLE (user_id uuid, kind text, spectator boolean, sees boolean, can_vote boolean)
LANGUAGE sql STABLE ROWS 20
BEGIN ATOMIC
  SELECT m.user_id, 'member'::text, m.spectator OR account.viewer, true, NOT (m.spectator OR account.viewer)
  FROM rooms.space_members m
  CROSS JOIN LATERAL (
    SELECT coalesce(ms.role = 'viewer', false) AS viewer
    FROM identity.users u
    LEFT JOIN identity.memberships ms
      ON ms.org_id = p_org AND ms.user_id = u.id AND ms.joined_at IS NOT NULL AND ms.revoked_at IS NULL
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

-- The one source of who votes, is waited for and is shown in a room; sees space members where a guest cannot. Present
-- is who may see the room and has a connection that gave a sign of life within 45 s (ROOM-52).
CREATE FUNCTION rooms.room_people(p_room uuid)
RETURNS TABLE (user_id uuid, kind text, spectator boolean, can_vote boolean, present boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp ROWS 20
BEGIN ATOMIC
  SELECT c.user_id, c.kind, c.spectator, c.can_vote,
    c.sees AND EXISTS (
      SELECT FROM rooms.room_presence p
      WHERE p.org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid) AND p.room_id = p_room
        AND p.user_id = c.user_id AND p.last_seen_at > statement_timestamp() - interval '45 seconds')
  FROM rooms.room_circle(nullif(current_setting('moothall.org_id', true), '')::uuid, p_room) c
  WHERE (SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL
    OR p_room = (SELECT nullif(current_setting('moothall.room_id', true), '')::uuid);
END;

-- Which of these people may still see the room: one statement for all streams attached to it (ROOM-175), in an
-- operation that has an org and no user.
CREATE FUNCTION rooms.room_viewers(p_room uuid, p_users uuid[]) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  SELECT c.user_id
  FROM rooms.room_circle(nullif(current_setting('moothall.org_id', true), '')::uuid, p_room) c
  WHERE c.user_id = ANY (p_users) AND c.sees
    AND ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL
      OR p_room = (SELECT nullif(current_setting('moothall.room_id', true), '')::uuid));
END;

-- That somebody voted is no secret, what they voted is (ROOM-75): who voted on a story and when, without the card.
CREATE FUNCTION rooms.round_voted(p_story uuid) RETURNS TABLE (user_id uuid, cast_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp ROWS 20
BEGIN ATOMIC
  SELECT v.user_id, v.cast_at
  FROM rooms.votes v
  WHERE v.org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid) AND v.story_id = p_story
    AND ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL
      OR v.room_id = (SELECT nullif(current_setting('moothall.room_id', true), '')::uuid));
END;

-- Removes votes that the caller may not read, and says how many. Without a user: all votes of the story on the table,
-- of a reset round (ROOM-65). With one: that person's vote while the story is hidden (ROOM-21). A guest clears their
-- own.
CREATE FUNCTION rooms.round_clear(p_story uuid, p_user uuid DEFAULT NULL) RETURNS integer
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  WITH cleared AS (
    DELETE FROM rooms.votes v
    USING rooms.stories s, rooms.rooms r
    WHERE v.org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid) AND v.story_id = p_story
      AND s.org_id = v.org_id AND s.id = v.story_id AND r.org_id = v.org_id AND r.id = v.room_id
      AND CASE WHEN p_user IS NULL THEN r.current_story_id = s.id
          ELSE v.user_id = p_user AND s.revealed_at IS NULL END
      AND ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL
        OR (v.room_id = (SELECT nullif(current_setting('moothall.room_id', true), '')::uuid)
          AND v.user_id = (SELECT nullif(current_setting('moothall.user_id', true), '')::uuid)))
    RETURNING 1
  )
  SELECT count(*)::integer FROM cleared;
END;

-- Finds the link that a token opens, before any org is known. Whether it still opens is the caller's question.
CREATE FUNCTION rooms.preauth_room_link(p_token_hash bytea)
RETURNS TABLE (org_id uuid, room_id uuid, link_id uuid, expires_at timestamptz, revoked_at timestamptz,
  redemptions integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp ROWS 1
BEGIN ATOMIC
  SELECT l.org_id, l.room_id, l.id, l.expires_at, l.revoked_at, l.redemptions
  FROM rooms.room_links l
  WHERE l.token_hash = p_token_hash;
END;

---------------------------------------------------------------------------------------------------------- work in rooms

-- Windows that ended and timers that ran out, in active orgs, oldest first. Rows another process holds are skipped; who
-- acts on one compares due_at and the round with the room once more, under its lock (ROOM-81).
CREATE FUNCTION rooms.claim_due_rooms(p_limit integer)
RETURNS TABLE (org_id uuid, room_id uuid, due text, due_at timestamptz, poker_round_version bigint)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  WITH windows AS (
    SELECT r.org_id, r.id, 'window' AS due, r.closes_at AS due_at, r.poker_round_version
    FROM rooms.rooms r
    JOIN identity.orgs o ON o.id = r.org_id AND o.status = 'active'
    WHERE r.closes_at IS NOT NULL AND r.ended_at IS NULL AND r.closes_at <= now()
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

-- Removes connections that fell silent, and returns the rooms in which somebody has none left (ROOM-52). The removal
-- itself wakes their streams, through room_presence_notify_went.
CREATE FUNCTION rooms.maint_prune_room_presence(p_limit integer) RETURNS TABLE (org_id uuid, room_id uuid)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  WITH silent AS (
    SELECT p.org_id, p.room_id, p.connection_id
    FROM rooms.room_presence p
    WHERE p.last_seen_at <= now() - interval '45 seconds'
    ORDER BY p.last_seen_at LIMIT p_limit
    FOR UPDATE SKIP LOCKED
  ), removed AS (
    DELETE FROM rooms.room_presence p
    USING silent
    WHERE p.org_id = silent.org_id AND p.room_id = silent.room_id AND p.connection_id = silent.connection_id
    RETURNING p.org_id, p.room_id, p.user_id
  )
  SELECT DISTINCT r.org_id, r.room_id
  FROM removed r
  WHERE NOT EXISTS (
    SELECT FROM rooms.room_presence p
    WHERE p.org_id = r.org_id AND p.room_id = r.room_id AND p.user_id = r.user_id
      AND p.last_seen_at > now() - interval '45 seconds');
END;

-- Removes stored events older than a day, oldest first; a stream that comes back later gets a snapshot.
CREATE FUNCTION rooms.maint_prune_room_events(p_limit integer) RETURNS integer
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  WITH old AS (
    SELECT e.org_id, e.room_id, e.version
    FROM rooms.room_events e
    WHERE e.created_at < now() - interval '24 hours'
    ORDER BY e.created_at LIMIT p_limit
    FOR UPDATE SKIP LOCKED
  ), removed AS (
    DELETE FROM rooms.room_events e
    USING old
    WHERE e.org_id = old.org_id AND e.room_id = old.room_id AND e.version = old.version
    RETURNING 1
  )
  SELECT count(*)::integer FROM removed;
END;

GRANT EXECUTE ON FUNCTION rooms.room_people(uuid), rooms.room_viewers(uuid, uuid[]), rooms.round_voted(uuid),
  rooms.round_clear(uuid, uuid), rooms.preauth_room_link(bytea), rooms.claim_due_rooms(integer),
  rooms.maint_prune_room_presence(integer), rooms.maint_prune_room_events(integer) TO moothall_app;
