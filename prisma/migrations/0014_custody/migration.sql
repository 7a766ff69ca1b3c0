-- The end of an org and of a person: purging, erasing, disabling, deleting. What the app may not do to such rows runs
-- here, as the owner, in steps that are each whole: a process killed between two of them leaves nothing half done.

------------------------------------------------------------------------------------------------------- purging an org

-- Orgs whose purge is under way: few, and asked for every half minute.
CREATE INDEX orgs_purging_idx ON identity.orgs (updated_at) WHERE status = 'purging';

-- What goes with an org, in the order of its foreign keys (ID-64): the rows of `name` that `rows` is true of, `oldest`
-- first, at most `share` of a step's limit where each takes others along. A body that brings tables replaces this.
CREATE FUNCTION identity.purged_tables()
RETURNS TABLE (place bigint, name text, rows text, oldest text, share numeric)
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
  SELECT row_number() OVER (), t.* FROM (VALUES
    ('platform.webhook_attempts', 't.org_id = $1', 'ctid', 1.0),
    ('platform.webhook_deliveries', 't.org_id = $1', 'ctid', 1),
    ('platform.webhooks', 't.org_id = $1', 'ctid', 1),
    ('platform.tool_invocations', 't.org_id = $1', 'ctid', 1),
    ('platform.idempotency_keys', 't.org_id = $1', 'ctid', 1),
    ('rooms.votes', 't.org_id = $1', 'ctid', 1),
    ('rooms.round_voters', 't.org_id = $1', 'ctid', 1),
    ('rooms.room_events', 't.org_id = $1', 'ctid', 1),
    ('rooms.room_presence', 't.org_id = $1', 'ctid', 1),
    ('rooms.room_participants', 't.org_id = $1', 'ctid', 1),
    ('rooms.room_guests', 't.org_id = $1', 'ctid', 1),
    ('rooms.room_links', 't.org_id = $1', 'ctid', 1),
    ('rooms.rooms', 't.org_id = $1', 'ctid', 0.02), -- each with its stories
    ('rooms.stories', 't.org_id = $1', 'ctid', 1),
    ('rooms.decks', 't.org_id = $1', 'ctid', 1),
    ('rooms.space_members', 't.org_id = $1', 'ctid', 1),
    ('rooms.spaces', 't.org_id = $1', 'ctid', 1),
    ('rooms.room_kinds', 't.org_id = $1', 'ctid', 1),
    ('identity.login_tokens', 't.org_id = $1', 'ctid', 1),
    ('identity.embed_handoffs', 't.org_id = $1', 'ctid', 1),
    ('identity.intent_nonces', 't.org_id = $1', 'ctid', 1),
    ('identity.agent_projects', 't.org_id = $1', 'ctid', 1),
    ('identity.api_keys', 't.org_id = $1', 'created_at', 1), -- a rotated one names its successor
    ('identity.sessions', 't.org_id = $1', 'ctid', 1),
    ('identity.users', 't.home_org_id = $1 AND t.account IN (''anonymous'', ''guest'')', 'ctid', 0.1),
    ('identity.memberships', 't.org_id = $1', 'ctid', 1),
    ('platform.audit_events', 't.org_id = $1 AND NOT t.durable', 'ctid', 1)
  ) AS t (name, rows, oldest, share)
$$;

-- Puts an archived org on its way out and cuts off at once whatever could still act in it: sign-ins, keys, one-time
-- tokens, webhooks. False when there is no archived org of that id and slug, or the caller is at work in another org.
CREATE FUNCTION identity.maint_org_purge_begin(p_org uuid, p_slug text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  UPDATE identity.orgs SET status = 'purging'
  WHERE id = p_org AND slug = p_slug AND status = 'archived'
    AND coalesce(nullif(current_setting('moothall.org_id', true), '')::uuid, p_org) = p_org;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  UPDATE identity.sessions SET revoked_at = now(), revoke_reason = 'admin' WHERE org_id = p_org AND revoked_at IS NULL;
  UPDATE identity.api_keys SET revoked_at = now() WHERE org_id = p_org AND revoked_at IS NULL;
  UPDATE identity.login_tokens SET voided_at = now() WHERE org_id = p_org AND used_at IS NULL AND voided_at IS NULL;
  UPDATE platform.webhooks SET is_active = false, disabled_reason = 'manual' WHERE org_id = p_org AND is_active;
  RETURN true;
END
$$;

-- Orgs with a purge to go on with, those first that have waited longest.
CREATE FUNCTION identity.claim_org_purges(p_limit integer) RETURNS TABLE (org_id uuid)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT id FROM identity.orgs WHERE status = 'purging' ORDER BY updated_at LIMIT least(greatest(p_limit, 0), 100)
$$;

-- Deletes up to p_limit rows of one table of an org that is being purged, and says how many went; null when it is not
-- being purged, or not any more. The org's row is held meanwhile, so that two processes take turns; what a step has done
-- stays done.
CREATE FUNCTION identity.maint_org_purge_step(p_org uuid, p_table text, p_limit integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  purged record;
  gone integer;
BEGIN
  PERFORM FROM identity.orgs WHERE id = p_org AND status = 'purging' FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  SELECT * INTO STRICT purged FROM identity.purged_tables() AS t WHERE t.name = p_table;
  EXECUTE format(
    'DELETE FROM %1$s AS gone WHERE gone.ctid = ANY (ARRAY(SELECT t.ctid FROM %1$s AS t WHERE %2$s ORDER BY t.%3$I LIMIT $2))',
    purged.name, purged.rows, purged.oldest)
  USING p_org, greatest((least(greatest(p_limit, 1), 10000) * purged.share)::integer, 1);
  GET DIAGNOSTICS gone = ROW_COUNT;
  RETURN gone;
END
$$;

-- Leaves the tombstone: no name, no settings, and a slug that frees the old one. False while anything is left that goes
-- with the org, or it is not being purged.
CREATE FUNCTION identity.maint_org_purge_end(p_org uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  purged record;
  is_left boolean;
BEGIN
  PERFORM FROM identity.orgs WHERE id = p_org AND status = 'purging' FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  FOR purged IN SELECT * FROM identity.purged_tables() LOOP
    EXECUTE format('SELECT EXISTS (SELECT FROM %s AS t WHERE %s)', purged.name, purged.rows) INTO is_left USING p_org;
    IF is_left THEN
      RETURN false;
    END IF;
  END LOOP;
  UPDATE identity.orgs
  SET status = 'purged', purged_at = now(), name = '', settings = '{}', slug = 'purged-' || id, stop_reason = NULL
  WHERE id = p_org;
  RETURN true;
END
$$;

---------------------------------------------------------------------------------------- erasing and deleting a person

-- The erased, for the look whether a membership of theirs is left.
CREATE INDEX users_erased_idx ON identity.users (id) WHERE status = 'erased';

-- 42501: a function that changes a person serves that person and the operator, and nobody else; in an org's operation it
-- reaches the people of that org alone. Those who call it run as the owner, so it sees every membership.
CREATE FUNCTION identity.require_own_user(p_user uuid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  acting CONSTANT uuid := nullif(current_setting('moothall.user_id', true), '')::uuid;
  org CONSTANT uuid := nullif(current_setting('moothall.org_id', true), '')::uuid;
BEGIN
  IF acting <> p_user
    OR (acting IS NULL AND org IS NOT NULL
      AND NOT EXISTS (SELECT FROM identity.memberships WHERE org_id = org AND user_id = p_user)
      AND NOT EXISTS (SELECT FROM identity.users WHERE id = p_user AND home_org_id = org))
  THEN
    RAISE EXCEPTION USING ERRCODE = '42501', MESSAGE = 'of another person';
  END IF;
END
$$;

-- Takes from a person everything that says who they are and lets them in, in all orgs at once (ID-65); what they wrote
-- stays and points at what is left of the row. False when there is nobody to erase. Their memberships are ended org by
-- org afterwards, with what every body does then; claim_erased_memberships finds those that a killed process left. The
-- last active owner of an org is kept by last_owner_guard.
CREATE FUNCTION identity.maint_user_erase(p_user uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  known text;
BEGIN
  PERFORM identity.require_own_user(p_user);
  SELECT u.email INTO known FROM identity.users AS u
  WHERE u.id = p_user AND u.type = 'human' AND u.status <> 'erased' FOR UPDATE;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  UPDATE identity.users
  SET display_name = 'Deleted user', email = NULL, email_verified_at = NULL, issuer = '', subject = '',
    password_hash = NULL, avatar_icon = '', notification_sounds = false, status = 'erased'
  WHERE id = p_user;
  -- The default username is part of an email.
  UPDATE identity.memberships SET username = 'deleted-' || left(md5(org_id::text || user_id), 8) WHERE user_id = p_user;
  DELETE FROM identity.sessions WHERE user_id = p_user;
  DELETE FROM identity.login_tokens WHERE user_id = p_user;
  DELETE FROM identity.embed_handoffs WHERE user_id = p_user;
  DELETE FROM identity.waitlist WHERE email = known;
  RETURN true;
END
$$;

-- Memberships that erased people still have.
CREATE FUNCTION identity.claim_erased_memberships(p_limit integer) RETURNS TABLE (org_id uuid, user_id uuid)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT m.org_id, m.user_id FROM identity.users AS u
  JOIN identity.memberships AS m ON m.user_id = u.id AND m.revoked_at IS NULL
  WHERE u.status = 'erased'
  LIMIT least(greatest(p_limit, 0), 1000)
$$;

-- The operator lets nobody in by that account any more, or again. False when nothing changes: unknown, invited, erased.
-- Whoever is shut out is signed out too: let in again, they sign in again.
CREATE FUNCTION identity.maint_user_disable(p_user uuid, p_disabled boolean) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM identity.require_own_user(p_user);
  UPDATE identity.users SET status = CASE WHEN p_disabled THEN 'disabled' ELSE 'active' END
  WHERE id = p_user AND type = 'human' AND status = CASE WHEN p_disabled THEN 'active' ELSE 'disabled' END;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  IF p_disabled THEN
    UPDATE identity.sessions SET revoked_at = now(), revoke_reason = 'admin'
    WHERE user_id = p_user AND revoked_at IS NULL;
  END IF;
  RETURN true;
END
$$;

-- Orgs that hear of what happens to a person: of their memberships, ended ones too, or the one their account belongs to.
CREATE FUNCTION identity.maint_user_orgs(p_user uuid) RETURNS TABLE (org_id uuid, org_slug text, last_owner boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT o.id, o.slug,
    coalesce(m.role = 'owner' AND m.joined_at IS NOT NULL AND m.revoked_at IS NULL, false)
    AND o.status IN ('active', 'archived')
    AND NOT EXISTS (
      SELECT FROM identity.memberships AS other JOIN identity.users AS person ON person.id = other.user_id
      WHERE other.org_id = o.id AND other.user_id <> u.id AND other.role = 'owner'
        AND other.joined_at IS NOT NULL AND other.revoked_at IS NULL AND person.status = 'active')
  FROM identity.users AS u
  LEFT JOIN identity.memberships AS m ON m.user_id = u.id
  JOIN identity.orgs AS o ON o.id = coalesce(m.org_id, u.home_org_id)
  WHERE u.id = p_user
    AND coalesce(nullif(current_setting('moothall.user_id', true), '')::uuid, p_user) = p_user
  ORDER BY o.id
$$;

-- Why a person's row cannot be deleted (ID-67), one row a reason and table. Rows of work, gate and plugins are looked
-- for in whatever column refers to a user, so that a table that comes later is looked at too.
CREATE FUNCTION identity.maint_user_blockers(p_user uuid)
RETURNS TABLE (reason text, in_table text, in_column text, held bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  named record;
BEGIN
  PERFORM identity.require_own_user(p_user);
  RETURN QUERY
    SELECT 'agent', 'identity.users', 'type', 1::bigint FROM identity.users AS u WHERE u.id = p_user AND u.type = 'agent';
  RETURN QUERY
    SELECT 'facilitator', 'rooms.rooms', 'facilitator_id', count(*) FROM rooms.rooms AS r
    WHERE r.facilitator_id = p_user HAVING count(*) > 0;
  RETURN QUERY
    SELECT 'speaker', 'rooms.rooms', 'current_speaker_id', count(*) FROM rooms.rooms AS r
    WHERE r.current_speaker_id = p_user HAVING count(*) > 0;
  RETURN QUERY
    SELECT 'last owner of an org', 'identity.memberships', 'role', count(*) FROM identity.maint_user_orgs(p_user) AS o
    WHERE o.last_owner HAVING count(*) > 0;
  RETURN QUERY
    SELECT 'last owner of a space', 'rooms.space_members', 'role', count(*) FROM rooms.members AS m
    WHERE m.user_id = p_user AND m.role = 'owner'
      AND NOT EXISTS (SELECT FROM rooms.members AS other WHERE other.org_id = m.org_id AND other.space_id = m.space_id
                      AND other.role = 'owner' AND other.user_id <> p_user)
    HAVING count(*) > 0;
  FOR named IN
    SELECT f.conrelid::regclass::text AS relation, a.attname AS col
    FROM pg_constraint AS f
    JOIN pg_class AS c ON c.oid = f.conrelid AND NOT c.relispartition
    JOIN pg_attribute AS a ON a.attrelid = f.conrelid AND a.attnum = f.conkey[1]
    WHERE f.contype = 'f' AND f.confrelid = 'identity.users'::regclass
      AND c.relnamespace::regnamespace::text IN ('work', 'gate', 'plugins')
    ORDER BY 1, 2
  LOOP
    RETURN QUERY EXECUTE format(
      'SELECT ''named'', %L, %L, count(*) FROM %s WHERE %I = $1 HAVING count(*) > 0',
      named.relation, named.col, named.relation, named.col)
    USING p_user;
  END LOOP;
END
$$;

-- Deletes a person's row with all that is theirs alone (ID-68). False, and nothing gone, while anything blocks it. The
-- row is locked first: whatever would name the person from here on waits, and then finds nobody.
CREATE FUNCTION identity.maint_user_delete(p_user uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM identity.require_own_user(p_user);
  PERFORM FROM identity.users WHERE id = p_user FOR UPDATE;
  IF NOT FOUND OR EXISTS (SELECT FROM identity.maint_user_blockers(p_user)) THEN
    RETURN false;
  END IF;
  DELETE FROM identity.users WHERE id = p_user;
  RETURN true;
END
$$;

GRANT EXECUTE ON FUNCTION
  identity.maint_org_purge_begin(uuid, text),
  identity.claim_org_purges(integer),
  identity.maint_org_purge_step(uuid, text, integer),
  identity.maint_org_purge_end(uuid),
  identity.maint_user_erase(uuid),
  identity.claim_erased_memberships(integer),
  identity.maint_user_disable(uuid, boolean),
  identity.maint_user_orgs(uuid),
  identity.maint_user_blockers(uuid),
  identity.maint_user_delete(uuid)
TO moothall_app;
