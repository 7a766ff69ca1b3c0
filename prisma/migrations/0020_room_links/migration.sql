-- Room links at work: what opens a link, what ends with it, and guests whose time is over.

-- Finds the link that a token opens, before any org is known, and whether it lets anybody in now: whatever it lacks, one
-- statement says so (ROOM-153).
DROP FUNCTION rooms.preauth_room_link(bytea);
CREATE FUNCTION rooms.preauth_room_link(p_token_hash bytea)
RETURNS TABLE (org_id uuid, room_id uuid, link_id uuid, expires_at timestamptz, revoked_at timestamptz,
  redemptions integer, opens boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp ROWS 1
BEGIN ATOMIC
  SELECT l.org_id, l.room_id, l.id, l.expires_at, l.revoked_at, l.redemptions,
    l.revoked_at IS NULL AND l.expires_at > statement_timestamp() AND r.ended_at IS NULL AND o.status = 'active'
  FROM rooms.room_links l
  JOIN rooms.rooms r ON r.org_id = l.org_id AND r.id = l.room_id
  JOIN identity.orgs o ON o.id = l.org_id
  WHERE l.token_hash = p_token_hash;
END;
GRANT EXECUTE ON FUNCTION rooms.preauth_room_link(bytea) TO moothall_app;

-------------------------------------------------------------------------------------------- what ends with a link (ID-33)

-- What a session token opens, as before; of a guest's, which holds no longer than its link does however that was revoked.
CREATE OR REPLACE FUNCTION identity.preauth_session(p_token_hash bytea)
RETURNS TABLE (session_id uuid, org_id uuid, user_id uuid, account text, user_status text, method text,
  embedded boolean, room_id uuid, link_id uuid, csrf_hash bytea, created_at timestamptz, last_seen_at timestamptz,
  expires_at timestamptz, revoked_at timestamptz, role text, org_slug text, org_status text, stopped_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN QUERY
    SELECT s.id::uuid, s.org_id, s.user_id, u.account, u.status, s.method,
      s.embedded, s.room_id, s.link_id, s.csrf_hash, s.created_at, s.last_seen_at,
      s.expires_at, least(s.revoked_at, l.revoked_at), m.role, o.slug, o.status, o.stopped_at
    FROM identity.sessions AS s
    JOIN identity.users AS u ON u.id = s.user_id
    JOIN identity.orgs AS o ON o.id = s.org_id
    LEFT JOIN identity.memberships AS m
      ON m.org_id = s.org_id AND m.user_id = s.user_id AND m.joined_at IS NOT NULL AND m.revoked_at IS NULL
    LEFT JOIN rooms.room_links AS l ON l.org_id = s.org_id AND l.id = s.link_id
    WHERE s.token_hash = p_token_hash;
END
$$;

-- Which of these sign-ins hold, as before, with the links of guests.
CREATE OR REPLACE FUNCTION identity.preauth_standings(p_sessions uuid[], p_idle double precision, p_max double precision)
RETURNS TABLE (session_id uuid, org_id uuid, user_id uuid, account text, embedded boolean, room_id uuid, role text,
  ends_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = 'force_generic_plan'
AS $$
BEGIN
  RETURN QUERY
    SELECT s.id::uuid, s.org_id, s.user_id, u.account, s.embedded, s.room_id, m.role, life.ends_at
    FROM identity.sessions AS s
    JOIN identity.users AS u ON u.id = s.user_id AND u.status = 'active'
    JOIN identity.orgs AS o ON o.id = s.org_id AND o.status IN ('active', 'archived')
    CROSS JOIN LATERAL identity.session_end(s.created_at, s.last_seen_at, s.expires_at, p_idle, p_max) AS life (ends_at)
    LEFT JOIN identity.memberships AS m
      ON m.org_id = s.org_id AND m.user_id = s.user_id AND m.joined_at IS NOT NULL AND m.revoked_at IS NULL
    LEFT JOIN rooms.room_links AS l ON l.org_id = s.org_id AND l.id = s.link_id
    WHERE s.id = ANY (p_sessions) AND s.revoked_at IS NULL AND l.revoked_at IS NULL
      AND life.ends_at > clock_timestamp();
END
$$;

-- Streams look again at who may see the room, also where a link was revoked without its sessions.
CREATE FUNCTION rooms.notify_revoked_link() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM rooms.notify_room(NEW.org_id, NEW.room_id);
  RETURN NULL;
END
$$;
CREATE TRIGGER room_links_notify_revoked AFTER UPDATE OF revoked_at ON rooms.room_links
  FOR EACH ROW WHEN (OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL)
  EXECUTE FUNCTION rooms.notify_revoked_link();

------------------------------------------------------------------------------------------------ guests whose time is over

-- Links that ran out of late, for the sweep.
CREATE INDEX room_guests_expiry_idx ON rooms.room_guests (expires_at);

-- Rooms that go on with participants whose link ran out within the last two days; those of an org that takes no writes
-- stay as they are. Who acts on one looks again under the room's lock.
CREATE FUNCTION rooms.claim_expired_guests(p_limit integer) RETURNS TABLE (org_id uuid, room_id uuid)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  SELECT r.org_id, r.id::uuid
  FROM rooms.rooms r
  JOIN identity.orgs o ON o.id = r.org_id AND o.status = 'active'
  WHERE r.ended_at IS NULL AND (r.org_id, r.id) IN (
    SELECT g.org_id, g.room_id
    FROM rooms.room_guests g
    JOIN rooms.room_participants p ON p.org_id = g.org_id AND p.room_id = g.room_id AND p.user_id = g.user_id
    WHERE g.expires_at <= now() AND g.expires_at > now() - interval '2 days')
  ORDER BY r.org_id, r.id LIMIT p_limit
  FOR NO KEY UPDATE OF r SKIP LOCKED;
END;
GRANT EXECUTE ON FUNCTION rooms.claim_expired_guests(integer) TO moothall_app;
