-- How long a sign-in lasts, whether many still hold, and the last step of one by password.

-- When a sign-in ends if it is not used again (ID-15). The lifetimes are configuration and come in milliseconds. Not a
-- definer function and no search_path: so it is inlined and costs nothing.
CREATE FUNCTION identity.session_end(
  p_created timestamptz, p_last_seen timestamptz, p_expires timestamptz, p_idle double precision, p_max double precision
) RETURNS timestamptz
LANGUAGE sql STABLE
RETURN least(p_created + p_max * interval '1 ms', p_last_seen + p_idle * interval '1 ms', p_expires);

-- Which of these sign-ins hold, and how far they reach now: one statement for all streams of a process (PLAT-33). A
-- sign-in that is missing from the answer holds no longer.
CREATE FUNCTION identity.preauth_standings(p_sessions uuid[], p_idle double precision, p_max double precision)
RETURNS TABLE (session_id uuid, org_id uuid, user_id uuid, account text, embedded boolean, room_id uuid, role text,
  ends_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
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
    WHERE s.id = ANY (p_sessions) AND s.revoked_at IS NULL AND life.ends_at > clock_timestamp();
END
$$;

-- Whether the hash that a password was compared with, outside any transaction, still is the caller's own and they are
-- still active; a hash with old parameters is rewritten on the way (ID-22). The row stays locked to the commit: a new
-- password and a sign-in with the old one cannot pass each other, and one person's sign-ins are counted one at a time.
CREATE FUNCTION identity.preauth_confirm_password(p_verified text, p_rewritten text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  UPDATE identity.users SET last_login_at = now(), password_hash = coalesce(p_rewritten, p_verified)
    WHERE id = nullif(current_setting('moothall.user_id', true), '')::uuid
      AND status = 'active' AND password_hash = p_verified;
  RETURN FOUND;
END
$$;

GRANT EXECUTE ON FUNCTION
  identity.session_end(timestamptz, timestamptz, timestamptz, double precision, double precision),
  identity.preauth_standings(uuid[], double precision, double precision),
  identity.preauth_confirm_password(text, text)
TO moothall_app;
