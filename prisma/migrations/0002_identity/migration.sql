-- Who calls and where they belong: orgs (the tenants), people and agents, memberships, sign-ins.
-- Row security compares with transaction-local settings through a sub-select, so that it is read once a statement and
-- never once a row. Without moothall.org_id nothing is visible and nothing can be written.

----------------------------------------------------------------------------------------------------------------- orgs

-- The tenant. Not a tenant table itself: its id is the tenant. Rows are never deleted; a purged org stays as a tombstone
-- under the slug purged-<id>, which frees the old one.
CREATE TABLE identity.orgs (
  id platform.uuid7 PRIMARY KEY DEFAULT platform.new_id(),
  slug text NOT NULL CONSTRAINT orgs_slug_key UNIQUE,
  name text NOT NULL,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived', 'purging', 'purged')),
  api_version text NOT NULL CHECK (api_version ~ '^\d{4}-\d\d-\d\d$'), -- pinned when the org is made
  time_zone text NOT NULL DEFAULT 'UTC' CHECK (char_length(time_zone) BETWEEN 1 AND 64),
  retention_days integer NOT NULL DEFAULT 90 CHECK (retention_days BETWEEN 7 AND 3650),
  allow_anonymous boolean NOT NULL DEFAULT false,
  settings jsonb NOT NULL DEFAULT '{}'
    CHECK (jsonb_typeof(settings) = 'object' AND octet_length(settings::text) <= 32768),
  stopped_at timestamptz, -- while set, no agent of the org may act
  stopped_by uuid,
  stop_reason text CHECK (char_length(stop_reason) <= 280),
  archived_at timestamptz,
  purged_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT orgs_slug_check
    CHECK (slug ~ '^[a-z0-9][a-z0-9-]{1,38}[a-z0-9]$' OR (status = 'purged' AND slug = 'purged-' || id)),
  CONSTRAINT orgs_name_check CHECK (char_length(name) BETWEEN 1 AND 64 OR (status = 'purged' AND name = '')),
  CONSTRAINT orgs_stop_check CHECK (stopped_at IS NOT NULL OR (stopped_by IS NULL AND stop_reason IS NULL)),
  CONSTRAINT orgs_status_times_check CHECK (
    CASE status
      WHEN 'active' THEN archived_at IS NULL AND purged_at IS NULL
      WHEN 'purged' THEN purged_at IS NOT NULL
      ELSE archived_at IS NOT NULL AND purged_at IS NULL
    END)
);

---------------------------------------------------------------------------------------------------------------- users

-- A person once, across all orgs, or an agent of one org. The row grants nothing; memberships do. Global, no tenant
-- table: an anonymous person, a guest and an agent belong to home_org_id alone, a registered person to no single org.
-- Never deleted by the app. What an account is at birth it stays: a guest whose link is gone is a guest still.
CREATE TABLE identity.users (
  id platform.uuid7 PRIMARY KEY DEFAULT platform.new_id(),
  type text NOT NULL CHECK (type IN ('human', 'agent')),
  account text NOT NULL CHECK (account IN ('registered', 'anonymous', 'guest', 'agent')),
  home_org_id uuid CONSTRAINT users_home_org_fkey REFERENCES identity.orgs (id) ON DELETE RESTRICT,
  display_name text NOT NULL CHECK (char_length(display_name) BETWEEN 1 AND 64),
  email text CHECK (char_length(email) BETWEEN 1 AND 254 AND email = lower(email)),
  email_verified_at timestamptz,
  issuer text NOT NULL DEFAULT '' CHECK (char_length(issuer) <= 255),
  subject text NOT NULL DEFAULT '' CHECK (char_length(subject) <= 255),
  password_hash text CHECK (char_length(password_hash) <= 255),
  status text NOT NULL CHECK (status IN ('invited', 'active', 'disabled', 'erased')),
  avatar_icon text NOT NULL DEFAULT '' CHECK (char_length(avatar_icon) <= 32),
  notification_sounds boolean NOT NULL DEFAULT false,
  link_id uuid, -- the room link a guest came through; its foreign key comes with the room links
  last_login_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT users_agent_check CHECK ((type = 'agent') = (account = 'agent')),
  CONSTRAINT users_home_check CHECK ((home_org_id IS NOT NULL) = (account <> 'registered')),
  CONSTRAINT users_oidc_check CHECK ((issuer = '') = (subject = '')),
  CONSTRAINT users_sign_in_check
    CHECK (account = 'registered' OR (email IS NULL AND issuer = '' AND password_hash IS NULL)),
  CONSTRAINT users_link_check CHECK (link_id IS NULL OR account = 'guest'),
  CONSTRAINT users_invited_check CHECK (status <> 'invited' OR account = 'registered')
);

-- Two first sign-ins with one identity make one person; people without one do not collide.
CREATE UNIQUE INDEX users_oidc_key ON identity.users (issuer, subject) WHERE issuer <> '';
-- One person an address; agents, guests and the erased have none.
CREATE UNIQUE INDEX users_email_key ON identity.users (email) WHERE email IS NOT NULL;
-- The people an org is home to: row security, purge.
CREATE INDEX users_home_org_idx ON identity.users (home_org_id) WHERE home_org_id IS NOT NULL;
-- The guests of one link: ending it, and its foreign key.
CREATE INDEX users_link_idx ON identity.users (home_org_id, link_id) WHERE link_id IS NOT NULL;

ALTER TABLE identity.orgs ADD CONSTRAINT orgs_stopped_by_fkey
  FOREIGN KEY (stopped_by) REFERENCES identity.users (id) ON DELETE SET NULL;
-- Serves that SET NULL alone.
CREATE INDEX orgs_stopped_by_idx ON identity.orgs (stopped_by) WHERE stopped_by IS NOT NULL;

---------------------------------------------------------------------------------------------------------- memberships

-- A registered person in an org. joined_at is null while invited; a live membership is joined and not revoked. A revoked
-- row stays, so that authors keep their name, and is reopened by the next invitation.
CREATE TABLE identity.memberships (
  org_id uuid NOT NULL CONSTRAINT memberships_org_fkey REFERENCES identity.orgs (id) ON DELETE RESTRICT,
  user_id uuid NOT NULL CONSTRAINT memberships_user_fkey REFERENCES identity.users (id) ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
  username text NOT NULL CHECK (username ~ '^[a-z0-9][a-z0-9._-]{0,38}$'),
  invited_by uuid CONSTRAINT memberships_invited_by_fkey REFERENCES identity.users (id) ON DELETE SET NULL,
  revoked_by uuid CONSTRAINT memberships_revoked_by_fkey REFERENCES identity.users (id) ON DELETE SET NULL,
  joined_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz, -- written at most once an hour
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, user_id),
  CONSTRAINT memberships_username_key UNIQUE (org_id, username),
  CONSTRAINT memberships_revoked_check CHECK (revoked_at IS NOT NULL OR revoked_by IS NULL)
);

-- The orgs of a person: signing in, the org switcher.
CREATE INDEX memberships_user_idx ON identity.memberships (user_id) WHERE revoked_at IS NULL;
-- Counting the owners of an org.
CREATE INDEX memberships_owners_idx ON identity.memberships (org_id)
  WHERE role = 'owner' AND joined_at IS NOT NULL AND revoked_at IS NULL;
-- These three serve foreign keys alone, when the operator deletes a person; the first also finds revoked rows.
CREATE INDEX memberships_revoked_user_idx ON identity.memberships (user_id) WHERE revoked_at IS NOT NULL;
CREATE INDEX memberships_invited_by_idx ON identity.memberships (invited_by) WHERE invited_by IS NOT NULL;
CREATE INDEX memberships_revoked_by_idx ON identity.memberships (revoked_by) WHERE revoked_by IS NOT NULL;

------------------------------------------------------------------------------------------------------------- sessions

-- A sign-in of a human, active in one org at a time. The token is kept as its SHA-256 only. Global, no tenant table: a
-- person sees their own sign-ins in every org. Idle and absolute ends are computed when the token is used; the sweep
-- only tidies.
CREATE TABLE identity.sessions (
  id platform.uuid7 PRIMARY KEY DEFAULT platform.new_id(),
  org_id uuid NOT NULL CONSTRAINT sessions_org_fkey REFERENCES identity.orgs (id) ON DELETE RESTRICT,
  user_id uuid NOT NULL CONSTRAINT sessions_user_fkey REFERENCES identity.users (id) ON DELETE CASCADE,
  token_hash bytea NOT NULL CONSTRAINT sessions_token_hash_key UNIQUE CHECK (octet_length(token_hash) = 32),
  csrf_hash bytea CHECK (octet_length(csrf_hash) = 32), -- null for a bearer token
  method text NOT NULL CHECK (method IN
    ('password', 'magic_link', 'code', 'invite', 'oidc', 'embed', 'anonymous', 'guest_link')),
  embedded boolean NOT NULL DEFAULT false,
  room_id uuid, -- these two of a guest only; their foreign keys come with the rooms and the room links
  link_id uuid,
  ip inet, -- as first seen, like user_agent
  user_agent text CHECK (char_length(user_agent) <= 512),
  created_at timestamptz NOT NULL DEFAULT now(),
  last_seen_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz, -- a fixed end: an embedded sign-in's or a guest's
  revoked_at timestamptz,
  revoke_reason text CHECK (revoke_reason IN ('logout', 'user', 'admin', 'role', 'link', 'erased', 'limit')),
  CONSTRAINT sessions_guest_check
    CHECK ((method = 'guest_link') = (room_id IS NOT NULL) AND (method = 'guest_link') = (link_id IS NOT NULL)),
  CONSTRAINT sessions_embed_check CHECK ((method = 'embed') = embedded),
  CONSTRAINT sessions_expires_check CHECK ((method IN ('guest_link', 'embed')) = (expires_at IS NOT NULL)),
  CONSTRAINT sessions_revoked_check CHECK ((revoked_at IS NULL) = (revoke_reason IS NULL))
);

-- A person's open sign-ins: the list, the bound of 50, ending all.
CREATE INDEX sessions_user_idx ON identity.sessions (user_id) WHERE revoked_at IS NULL;
-- A person's open sign-ins in one org: revoking a membership.
CREATE INDEX sessions_org_user_idx ON identity.sessions (org_id, user_id) WHERE revoked_at IS NULL;
-- The sign-ins that came through one link: revoking it.
CREATE INDEX sessions_link_idx ON identity.sessions (link_id) WHERE link_id IS NOT NULL AND revoked_at IS NULL;
-- The four ends by which the sweep finds dead rows.
CREATE INDEX sessions_last_seen_idx ON identity.sessions (last_seen_at);
CREATE INDEX sessions_created_idx ON identity.sessions (created_at);
CREATE INDEX sessions_expires_idx ON identity.sessions (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX sessions_revoked_idx ON identity.sessions (revoked_at) WHERE revoked_at IS NOT NULL;

--------------------------------------------------------------------------------------------------------- row security

ALTER TABLE identity.orgs ENABLE ROW LEVEL SECURITY;
ALTER TABLE identity.users ENABLE ROW LEVEL SECURITY;
ALTER TABLE identity.memberships ENABLE ROW LEVEL SECURITY;
ALTER TABLE identity.sessions ENABLE ROW LEVEL SECURITY;

-- An operation sees its own org and no other. An org is born under its own id, so making one needs no wider reach.
CREATE POLICY own_org ON identity.orgs FOR ALL TO moothall_app
  USING (id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));

-- A guest reads the org they are in and writes nothing of it.
CREATE POLICY guest_insert ON identity.orgs AS RESTRICTIVE FOR INSERT TO moothall_app
  WITH CHECK ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);
CREATE POLICY guest_update ON identity.orgs AS RESTRICTIVE FOR UPDATE TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);

-- Oneself, those at home in the org, and all who are or were its members, so that authors stay nameable. Rooms adds the
-- participants of a guest's room.
CREATE POLICY people ON identity.users FOR SELECT TO moothall_app
  USING (
    id = (SELECT nullif(current_setting('moothall.user_id', true), '')::uuid)
    OR home_org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid)
    OR EXISTS (
      SELECT FROM identity.memberships AS m
      WHERE m.org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid) AND m.user_id = users.id));
-- A guest sees nobody but themself; rooms widens it to those in the guest's room.
CREATE POLICY guest_people ON identity.users AS RESTRICTIVE FOR SELECT TO moothall_app
  USING (
    (SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL
    OR id = (SELECT nullif(current_setting('moothall.user_id', true), '')::uuid));
-- A profile is written by its owner or by the org that is its home.
CREATE POLICY update_own ON identity.users FOR UPDATE TO moothall_app
  USING (
    id = (SELECT nullif(current_setting('moothall.user_id', true), '')::uuid)
    OR home_org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- To see the others in the room is not to write them.
CREATE POLICY guest_update ON identity.users AS RESTRICTIVE FOR UPDATE TO moothall_app
  USING (
    (SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL
    OR id = (SELECT nullif(current_setting('moothall.user_id', true), '')::uuid));
-- A registered person begins as invited, with nothing proven. The row is invisible until a membership exists, so it is
-- inserted without RETURNING.
CREATE POLICY insert_invited ON identity.users FOR INSERT TO moothall_app
  WITH CHECK (
    (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid) IS NOT NULL
    AND account = 'registered' AND status = 'invited' AND last_login_at IS NULL AND email_verified_at IS NULL);
-- Everybody else is made by the org that is their home.
CREATE POLICY insert_local ON identity.users FOR INSERT TO moothall_app
  WITH CHECK (
    account IN ('anonymous', 'guest', 'agent')
    AND home_org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- A guest makes nobody.
CREATE POLICY guest_insert ON identity.users AS RESTRICTIVE FOR INSERT TO moothall_app
  WITH CHECK ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);

-- Rows of the operation's org only, read and written.
CREATE POLICY tenant ON identity.memberships FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- A guest of a room learns nothing of the org's members.
CREATE POLICY guest_none ON identity.memberships AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);

-- The org's sign-ins for its admins, and one's own wherever they are.
CREATE POLICY org_or_own ON identity.sessions FOR ALL TO moothall_app
  USING (
    org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid)
    OR user_id = (SELECT nullif(current_setting('moothall.user_id', true), '')::uuid))
  WITH CHECK (
    org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid)
    OR user_id = (SELECT nullif(current_setting('moothall.user_id', true), '')::uuid));
-- A guest sees their own sign-in and nobody else's.
CREATE POLICY guest_own ON identity.sessions AS RESTRICTIVE FOR ALL TO moothall_app
  USING (
    (SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL
    OR user_id = (SELECT nullif(current_setting('moothall.user_id', true), '')::uuid));

--------------------------------------------------------------------------------------------------------------- grants

-- No row here is deleted by the app, ids and accounts are fixed, and hashes are written but never read: what compares
-- them is one of the functions at the end.
GRANT SELECT, INSERT ON identity.orgs TO moothall_app;
GRANT UPDATE (name, slug, time_zone, retention_days, allow_anonymous, settings, stopped_at, stopped_by, stop_reason,
  status, archived_at) ON identity.orgs TO moothall_app;

GRANT SELECT (id, type, account, home_org_id, display_name, email, email_verified_at, issuer, subject, status,
  avatar_icon, notification_sounds, link_id, last_login_at, created_at, updated_at), INSERT
  ON identity.users TO moothall_app;
GRANT UPDATE (display_name, email_verified_at, issuer, subject, password_hash, avatar_icon, notification_sounds,
  last_login_at, status) ON identity.users TO moothall_app;

GRANT SELECT, INSERT ON identity.memberships TO moothall_app;
GRANT UPDATE (role, username, joined_at, revoked_at, revoked_by, last_used_at) ON identity.memberships TO moothall_app;

GRANT SELECT (id, org_id, user_id, method, embedded, room_id, link_id, ip, user_agent, created_at, last_seen_at,
  expires_at, revoked_at, revoke_reason), INSERT ON identity.sessions TO moothall_app;
GRANT UPDATE (org_id, last_seen_at, revoked_at, revoke_reason) ON identity.sessions TO moothall_app;

-------------------------------------------------------------------------------------------------------------- standing

-- Whether a person or agent belongs to an org: a live membership, or the org is their home. For the trigger functions
-- below, which see past row security.
CREATE FUNCTION identity.has_standing(p_org uuid, p_user uuid) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT EXISTS (SELECT FROM identity.memberships
                 WHERE org_id = p_org AND user_id = p_user AND joined_at IS NOT NULL AND revoked_at IS NULL)
      OR EXISTS (SELECT FROM identity.users WHERE id = p_user AND home_org_id = p_org)
$$;

-- MH009: a column that names a person or agent of the org. Attach as BEFORE INSERT OR UPDATE with the column's name. It
-- looks when the column gets a new value, so a row that names somebody who has left stays editable.
CREATE FUNCTION identity.require_standing() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  named CONSTANT text := to_jsonb(NEW) ->> TG_ARGV[0];
BEGIN
  IF named IS NULL OR (TG_OP = 'UPDATE' AND to_jsonb(OLD) ->> TG_ARGV[0] = named) THEN
    RETURN NEW;
  END IF;
  IF NOT identity.has_standing(NEW.org_id, named::uuid) THEN
    RAISE EXCEPTION USING ERRCODE = 'MH009', MESSAGE = 'no standing in this org',
      SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, COLUMN = TG_ARGV[0], CONSTRAINT = TG_NAME;
  END IF;
  RETURN NEW;
END
$$;

--------------------------------------------------------------------------------------------------------------- guards

-- MH010: anyone who may write the org archives and unarchives it. Towards purged it goes by the purge alone, whose
-- functions run as the owner: the app's role can take no such step.
CREATE FUNCTION identity.orgs_status_guard() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  edge CONSTANT text := CASE TG_OP WHEN 'INSERT' THEN 'new' ELSE OLD.status END || ' to ' || NEW.status;
BEGIN
  IF edge IN ('new to active', 'active to archived', 'archived to active')
    OR (edge IN ('archived to purging', 'purging to purged') AND pg_has_role(current_user, 'moothall_owner', 'USAGE'))
  THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION USING ERRCODE = 'MH010', MESSAGE = 'an org cannot change its status like that',
    SCHEMA = 'identity', TABLE = 'orgs', COLUMN = 'status', CONSTRAINT = TG_NAME;
END
$$;

-- Every org begins active.
CREATE TRIGGER orgs_status_born BEFORE INSERT ON identity.orgs
  FOR EACH ROW EXECUTE FUNCTION identity.orgs_status_guard();
-- And moves along legal edges only.
CREATE TRIGGER orgs_status_guard BEFORE UPDATE OF status ON identity.orgs
  FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION identity.orgs_status_guard();

-- MH010: the app accepts an invitation and does nothing else to a person's status; disabling, enabling and erasing
-- belong to the operator and run as the owner.
CREATE FUNCTION identity.users_status_guard() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF (OLD.status = 'invited' AND NEW.status = 'active') OR pg_has_role(current_user, 'moothall_owner', 'USAGE') THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION USING ERRCODE = 'MH010', MESSAGE = 'a user cannot change status like that',
    SCHEMA = 'identity', TABLE = 'users', COLUMN = 'status', CONSTRAINT = TG_NAME;
END
$$;

-- Holds that on every path of the app.
CREATE TRIGGER users_status_guard BEFORE UPDATE OF status ON identity.users
  FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION identity.users_status_guard();

-- MH009: only a registered person becomes a member. A definer function, since an invited person is invisible until the
-- membership exists.
CREATE FUNCTION identity.membership_account_guard() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM FROM identity.users WHERE id = NEW.user_id AND account <> 'registered';
  IF FOUND THEN
    RAISE EXCEPTION USING ERRCODE = 'MH009', MESSAGE = 'only a registered person can be a member',
      SCHEMA = 'identity', TABLE = 'memberships', COLUMN = 'user_id', CONSTRAINT = TG_NAME;
  END IF;
  RETURN NEW;
END
$$;

-- Keeps anonymous people, guests and agents what they are.
CREATE TRIGGER memberships_account_guard BEFORE INSERT OR UPDATE OF user_id ON identity.memberships
  FOR EACH ROW EXECUTE FUNCTION identity.membership_account_guard();

-- MH009: a sign-in is a human's, in an org where they have standing; looked at when it is made and when it moves to
-- another org, so that a revoked member's row can still be written.
CREATE FUNCTION identity.sessions_standing_guard() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF identity.has_standing(NEW.org_id, NEW.user_id)
    AND EXISTS (SELECT FROM identity.users WHERE id = NEW.user_id AND type = 'human')
  THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION USING ERRCODE = 'MH009', MESSAGE = 'no standing in this org',
    SCHEMA = 'identity', TABLE = 'sessions', COLUMN = 'user_id', CONSTRAINT = TG_NAME;
END
$$;

-- Of every new sign-in.
CREATE TRIGGER sessions_standing_born BEFORE INSERT ON identity.sessions
  FOR EACH ROW EXECUTE FUNCTION identity.sessions_standing_guard();
-- And of every change of its active org.
CREATE TRIGGER sessions_standing_guard BEFORE UPDATE OF org_id, user_id ON identity.sessions
  FOR EACH ROW WHEN (OLD.org_id IS DISTINCT FROM NEW.org_id OR OLD.user_id IS DISTINCT FROM NEW.user_id)
  EXECUTE FUNCTION identity.sessions_standing_guard();
-- MH008: an ended sign-in is never opened again.
CREATE TRIGGER sessions_ended_once BEFORE UPDATE OF revoked_at, revoke_reason ON identity.sessions
  FOR EACH ROW EXECUTE FUNCTION platform.set_once('revoked_at', 'revoke_reason');

-- MH005: an org, active or archived, keeps an active owner: role owner, joined, not revoked, the person active. It looks
-- when the transaction commits, so owners can change places inside one. The org's row is locked first and the owners are
-- counted after: of two owners demoting each other the second waits, then counts what the first left. That holds under
-- READ COMMITTED, where the count takes a snapshot of its own.
CREATE FUNCTION identity.last_owner_guard() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  orgs uuid[];
  org uuid;
BEGIN
  IF TG_TABLE_NAME = 'memberships' THEN
    orgs := ARRAY[OLD.org_id];
  ELSE
    orgs := ARRAY(SELECT m.org_id FROM identity.memberships AS m
                  WHERE m.user_id = OLD.id AND m.role = 'owner' AND m.joined_at IS NOT NULL AND m.revoked_at IS NULL);
  END IF;
  FOR org IN
    SELECT o.id FROM identity.orgs AS o
    WHERE o.id = ANY (orgs) AND o.status IN ('active', 'archived')
    ORDER BY o.id
    FOR NO KEY UPDATE OF o
  LOOP
    PERFORM FROM identity.memberships AS m JOIN identity.users AS u ON u.id = m.user_id
    WHERE m.org_id = org AND m.role = 'owner' AND m.joined_at IS NOT NULL AND m.revoked_at IS NULL
      AND u.status = 'active';
    IF NOT FOUND THEN
      RAISE EXCEPTION USING ERRCODE = 'MH005', MESSAGE = 'an org keeps an active owner',
        SCHEMA = 'identity', TABLE = 'memberships', CONSTRAINT = TG_NAME;
    END IF;
  END LOOP;
  RETURN NULL;
END
$$;

-- A membership that was an owner's and is no longer.
CREATE CONSTRAINT TRIGGER last_owner_demoted AFTER UPDATE ON identity.memberships
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.role = 'owner' AND OLD.joined_at IS NOT NULL AND OLD.revoked_at IS NULL
    AND (NEW.role <> 'owner' OR NEW.joined_at IS NULL OR NEW.revoked_at IS NOT NULL))
  EXECUTE FUNCTION identity.last_owner_guard();
-- An owner's membership that is gone, with its person or without.
CREATE CONSTRAINT TRIGGER last_owner_deleted AFTER DELETE ON identity.memberships
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.role = 'owner' AND OLD.joined_at IS NOT NULL AND OLD.revoked_at IS NULL)
  EXECUTE FUNCTION identity.last_owner_guard();
-- A person who was active and is no longer.
CREATE CONSTRAINT TRIGGER last_owner_inactive AFTER UPDATE OF status ON identity.users
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.status = 'active' AND NEW.status <> 'active')
  EXECUTE FUNCTION identity.last_owner_guard();

-- Whether a handle belongs to somebody else in the org. Usernames and the names of agents are one namespace: the
-- migration that brings agents replaces this function with one that looks at both.
CREATE FUNCTION identity.handle_taken(p_org uuid, p_handle text, p_user uuid) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT EXISTS (SELECT FROM identity.memberships WHERE org_id = p_org AND username = p_handle AND user_id <> p_user)
$$;

-- MH060: a handle is free in its org, and no reserved name. Its arguments are the column of the handle and the column of
-- the user; 'reserved' as a third one lets reserved names through. Two writers of one org take turns, since no unique
-- index can span two tables.
CREATE FUNCTION identity.handle_guard() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  handle CONSTANT text := to_jsonb(NEW) ->> TG_ARGV[0];
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('identity.handles ' || NEW.org_id, 0));
  IF identity.handle_taken(NEW.org_id, handle, (to_jsonb(NEW) ->> TG_ARGV[1])::uuid)
    OR (TG_ARGV[2] IS DISTINCT FROM 'reserved'
      AND (handle IN ('org', 'system', 'console', 'admin', 'moothall', 'all', 'me') OR handle LIKE 'plugin-%'))
  THEN
    RAISE EXCEPTION USING ERRCODE = 'MH060', MESSAGE = 'the handle is taken',
      SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, COLUMN = TG_ARGV[0], CONSTRAINT = TG_NAME;
  END IF;
  RETURN NEW;
END
$$;

-- Of every new member, revoked ones who keep their name included.
CREATE TRIGGER handle_born BEFORE INSERT ON identity.memberships
  FOR EACH ROW EXECUTE FUNCTION identity.handle_guard('username', 'user_id');
-- And of every new name.
CREATE TRIGGER handle_guard BEFORE UPDATE OF username ON identity.memberships
  FOR EACH ROW WHEN (OLD.username IS DISTINCT FROM NEW.username)
  EXECUTE FUNCTION identity.handle_guard('username', 'user_id');

-- Keep updated_at.
CREATE TRIGGER touch BEFORE UPDATE ON identity.orgs FOR EACH ROW EXECUTE FUNCTION platform.touch();
CREATE TRIGGER touch BEFORE UPDATE ON identity.users FOR EACH ROW EXECUTE FUNCTION platform.touch();
CREATE TRIGGER touch BEFORE UPDATE ON identity.memberships FOR EACH ROW EXECUTE FUNCTION platform.touch();

------------------------------------------------------------------------------------------------------- live standing

-- What changes anybody's standing is told to every process as it commits (ID-3, PLAT-26).
CREATE FUNCTION identity.announce_org() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF OLD.status <> NEW.status THEN
    PERFORM platform.notify_identity('org', NEW.id,
      CASE NEW.status WHEN 'purging' THEN 'purged' ELSE NEW.status END, NEW.id);
  END IF;
  IF (OLD.stopped_at IS NULL) <> (NEW.stopped_at IS NULL) THEN
    PERFORM platform.notify_identity('org', NEW.id,
      CASE WHEN NEW.stopped_at IS NULL THEN 'resumed' ELSE 'stopped' END, NEW.id);
  END IF;
  RETURN NULL;
END
$$;

CREATE FUNCTION identity.announce_user() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM platform.notify_identity('user', NEW.id,
    CASE NEW.status WHEN 'active' THEN 'active' WHEN 'disabled' THEN 'suspended' ELSE 'revoked' END);
  RETURN NULL;
END
$$;

CREATE FUNCTION identity.announce_membership() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  was_live CONSTANT boolean := OLD.joined_at IS NOT NULL AND OLD.revoked_at IS NULL;
  is_live boolean := false;
BEGIN
  IF TG_OP = 'UPDATE' THEN
    is_live := NEW.joined_at IS NOT NULL AND NEW.revoked_at IS NULL;
  END IF;
  IF was_live <> is_live THEN
    PERFORM platform.notify_identity('member', OLD.user_id, CASE WHEN is_live THEN 'active' ELSE 'revoked' END,
      OLD.org_id);
  ELSIF is_live AND NEW.role <> OLD.role THEN
    PERFORM platform.notify_identity('member', OLD.user_id, 'role', OLD.org_id);
  END IF;
  RETURN NULL;
END
$$;

-- A sign-in that ends or goes takes its streams along; one that moves leaves the old org's behind.
CREATE FUNCTION identity.announce_session() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF TG_OP = 'DELETE' OR NEW.revoked_at IS NOT NULL THEN
    PERFORM platform.notify_identity('session', OLD.id, 'revoked', OLD.org_id);
  ELSE
    PERFORM platform.notify_identity('session', OLD.id, 'changed', OLD.org_id);
  END IF;
  RETURN NULL;
END
$$;

-- Archived, purged, stopped, and back.
CREATE TRIGGER announce AFTER UPDATE OF status, stopped_at ON identity.orgs
  FOR EACH ROW EXECUTE FUNCTION identity.announce_org();
-- Disabled, erased, enabled; accepting an invitation too.
CREATE TRIGGER announce AFTER UPDATE OF status ON identity.users
  FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION identity.announce_user();
-- Joined, given another role, revoked; not each use of the membership.
CREATE TRIGGER announce AFTER DELETE OR UPDATE OF role, joined_at, revoked_at ON identity.memberships
  FOR EACH ROW EXECUTE FUNCTION identity.announce_membership();
-- Ended, or moved to another org; not each sight of it.
CREATE TRIGGER announce AFTER UPDATE OF revoked_at, org_id ON identity.sessions
  FOR EACH ROW WHEN (OLD.revoked_at IS DISTINCT FROM NEW.revoked_at OR OLD.org_id IS DISTINCT FROM NEW.org_id)
  EXECUTE FUNCTION identity.announce_session();
-- Deleted while open, with its person or its room.
CREATE TRIGGER announce_deleted AFTER DELETE ON identity.sessions
  FOR EACH ROW WHEN (OLD.revoked_at IS NULL) EXECUTE FUNCTION identity.announce_session();

---------------------------------------------------------------------------------------- before the org is known, sweeps

-- What a session token opens, in one round trip, with what its check needs: the app compares the times with the
-- database's clock and the CSRF hash in constant time. role is that of a live membership in the active org, else null.
-- PL/pgSQL, since every request asks it and servers before 18 plan an SQL function anew at each call.
CREATE FUNCTION identity.preauth_session(p_token_hash bytea)
RETURNS TABLE (session_id uuid, org_id uuid, user_id uuid, account text, user_status text, method text,
  embedded boolean, room_id uuid, link_id uuid, csrf_hash bytea, created_at timestamptz, last_seen_at timestamptz,
  expires_at timestamptz, revoked_at timestamptz, role text, org_slug text, org_status text, stopped_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN QUERY
    SELECT s.id::uuid, s.org_id, s.user_id, u.account, u.status, s.method,
      s.embedded, s.room_id, s.link_id, s.csrf_hash, s.created_at, s.last_seen_at,
      s.expires_at, s.revoked_at, m.role, o.slug, o.status, o.stopped_at
    FROM identity.sessions AS s
    JOIN identity.users AS u ON u.id = s.user_id
    JOIN identity.orgs AS o ON o.id = s.org_id
    LEFT JOIN identity.memberships AS m
      ON m.org_id = s.org_id AND m.user_id = s.user_id AND m.joined_at IS NOT NULL AND m.revoked_at IS NULL
    WHERE s.token_hash = p_token_hash;
END
$$;

-- What a password sign-in compares with, and the orgs it may lead to, the most recently used first. An agent, a guest or
-- an anonymous person has no email and so no row.
CREATE FUNCTION identity.preauth_password(p_email text)
RETURNS TABLE (user_id uuid, status text, password_hash text, org_ids uuid[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT u.id, u.status, u.password_hash, ARRAY(
    SELECT m.org_id FROM identity.memberships AS m JOIN identity.orgs AS o ON o.id = m.org_id
    WHERE m.user_id = u.id AND m.joined_at IS NOT NULL AND m.revoked_at IS NULL AND o.status IN ('active', 'archived')
    ORDER BY m.last_used_at DESC NULLS LAST, m.joined_at DESC, m.org_id)
  FROM identity.users AS u
  WHERE u.email = p_email AND u.account = 'registered'
$$;

-- Whom an invitation or a sign-in mail reaches: one row per membership that is not revoked, or one with nulls. The
-- migration that brings sign-in tokens adds how many were made in the last hour.
CREATE FUNCTION identity.preauth_user_by_email(p_email text)
RETURNS TABLE (user_id uuid, status text, org_id uuid, org_slug text, org_name text, org_status text, role text,
  joined_at timestamptz, last_used_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT u.id, u.status, o.id, o.slug, o.name, o.status, m.role, m.joined_at, m.last_used_at
  FROM identity.users AS u
  LEFT JOIN identity.memberships AS m ON m.user_id = u.id AND m.revoked_at IS NULL
  LEFT JOIN identity.orgs AS o ON o.id = m.org_id
  WHERE u.email = p_email
  ORDER BY m.last_used_at DESC NULLS LAST, m.joined_at DESC NULLS LAST, o.id
$$;

-- The org switcher: where a person can go. Only for oneself once the operation knows who that is.
CREATE FUNCTION identity.preauth_user_orgs(p_user uuid)
RETURNS TABLE (org_id uuid, slug text, name text, status text, role text, joined_at timestamptz,
  last_used_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF nullif(current_setting('moothall.user_id', true), '')::uuid <> p_user THEN
    RAISE EXCEPTION USING ERRCODE = '42501', MESSAGE = 'the orgs of somebody else';
  END IF;
  RETURN QUERY
    SELECT o.id::uuid, o.slug, o.name, o.status, m.role, m.joined_at, m.last_used_at
    FROM identity.memberships AS m JOIN identity.orgs AS o ON o.id = m.org_id
    WHERE m.user_id = p_user AND m.joined_at IS NOT NULL AND m.revoked_at IS NULL
      AND o.status IN ('active', 'archived')
    ORDER BY m.last_used_at DESC NULLS LAST, m.joined_at DESC, o.id;
END
$$;

-- Which org a slug means, and whether it lets anonymous people in.
CREATE FUNCTION identity.preauth_org_by_slug(p_slug text)
RETURNS TABLE (org_id uuid, status text, allow_anonymous boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT id, status, allow_anonymous FROM identity.orgs WHERE slug = p_slug
$$;

-- The sweep (ID-20): a sign-in stays for thirty days after its end, for whoever looks into a break-in. The server passes
-- the idle and absolute lifetimes it is configured with; a row that another sweep holds is left to it.
CREATE FUNCTION identity.maint_prune_identity(
  p_limit integer, p_idle interval DEFAULT '14 days', p_max interval DEFAULT '30 days'
) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  kept CONSTANT timestamptz := now() - interval '30 days';
  gone integer;
BEGIN
  DELETE FROM identity.sessions WHERE id IN (
    SELECT id FROM identity.sessions
    WHERE revoked_at < kept OR expires_at < kept
      OR last_seen_at < kept - greatest(p_idle, interval '0') OR created_at < kept - greatest(p_max, interval '0')
    LIMIT least(greatest(p_limit, 0), 10000)
    FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS gone = ROW_COUNT;
  RETURN gone;
END
$$;

GRANT EXECUTE ON FUNCTION
  identity.preauth_session(bytea),
  identity.preauth_password(text),
  identity.preauth_user_by_email(text),
  identity.preauth_user_orgs(uuid),
  identity.preauth_org_by_slug(text),
  identity.maint_prune_identity(integer, interval, interval)
TO moothall_app;
