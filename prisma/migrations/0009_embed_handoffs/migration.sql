-- Signing in from elsewhere: hand-offs to embedded meeting clients, and identities of an OpenID Connect provider.

------------------------------------------------------------------------------------------------------------ hand-offs

-- A frame that cannot sign in by itself shows a code; somebody who is signed in elsewhere binds it, and the frame redeems
-- it for a session. Global, since nobody is known when it begins: nobody has a right on it, and the three functions below
-- are the only way in (PLAT-1). The frame keeps the verifier; what is kept here is its digest.
CREATE TABLE identity.embed_handoffs (
  challenge_hash bytea PRIMARY KEY CHECK (octet_length(challenge_hash) = 32),
  display_code text NOT NULL CHECK (display_code ~ '^[23456789ABCDEFGHJKMNPQRSTVWXYZ]{6}$'),
  provider text NOT NULL CHECK (char_length(provider) BETWEEN 1 AND 32),
  client_key text NOT NULL CHECK (char_length(client_key) BETWEEN 1 AND 64), -- an HMAC of the client's address
  user_id uuid CONSTRAINT embed_handoffs_user_fkey REFERENCES identity.users (id) ON DELETE CASCADE,
  org_id uuid CONSTRAINT embed_handoffs_org_fkey REFERENCES identity.orgs (id) ON DELETE CASCADE,
  failed_binds smallint NOT NULL DEFAULT 0 CHECK (failed_binds BETWEEN 0 AND 5),
  bound_at timestamptz,
  used_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL DEFAULT now() + interval '5 minutes',
  CONSTRAINT embed_handoffs_bound_check
    CHECK ((bound_at IS NOT NULL) = (user_id IS NOT NULL) AND (bound_at IS NOT NULL) = (org_id IS NOT NULL)),
  CONSTRAINT embed_handoffs_used_check CHECK (used_at IS NULL OR bound_at IS NOT NULL),
  CONSTRAINT embed_handoffs_expires_check CHECK (expires_at <= created_at + interval '5 minutes')
);

-- How many one client has open.
CREATE INDEX embed_handoffs_client_idx ON identity.embed_handoffs (client_key, created_at);
-- The sweep.
CREATE INDEX embed_handoffs_expires_idx ON identity.embed_handoffs (expires_at);
-- Both foreign keys: erasing a person, purging an org.
CREATE INDEX embed_handoffs_user_idx ON identity.embed_handoffs (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX embed_handoffs_org_idx ON identity.embed_handoffs (org_id) WHERE org_id IS NOT NULL;

-- MH008: bound once, to one person in one org, and used once.
CREATE TRIGGER embed_handoffs_once BEFORE UPDATE ON identity.embed_handoffs
  FOR EACH ROW EXECUTE FUNCTION platform.set_once('user_id', 'org_id', 'bound_at', 'used_at');

-- Begins one (ID-30). Says `taken` for a challenge that is there already, `full` when the client has ten that are neither
-- used nor over; wait_seconds is then how long until the oldest of them is. Calls of one client take turns, so that they
-- are counted exactly.
CREATE FUNCTION identity.preauth_embed_start(
  p_challenge_hash bytea, p_display_code text, p_provider text, p_client_key text
) RETURNS TABLE (outcome text, expires_at timestamptz, wait_seconds double precision)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  open_count bigint;
  first_end timestamptz;
  made_until timestamptz;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('identity.embed_handoffs ' || p_client_key, 0));
  SELECT count(*), min(h.expires_at) INTO open_count, first_end FROM identity.embed_handoffs AS h
    WHERE h.client_key = p_client_key AND h.used_at IS NULL AND h.expires_at > clock_timestamp();
  IF open_count >= 10 THEN
    RETURN QUERY SELECT 'full', NULL::timestamptz, extract(epoch FROM first_end - clock_timestamp())::double precision;
    RETURN;
  END IF;
  INSERT INTO identity.embed_handoffs AS h (challenge_hash, display_code, provider, client_key)
    VALUES (p_challenge_hash, p_display_code, p_provider, p_client_key)
    ON CONFLICT DO NOTHING
    RETURNING h.expires_at INTO made_until;
  IF made_until IS NULL THEN
    RETURN QUERY SELECT 'taken', NULL::timestamptz, NULL::double precision;
  ELSE
    RETURN QUERY SELECT 'started', made_until, NULL::double precision;
  END IF;
END
$$;

-- Binds one to the operation's own person and org (ID-31). What is bound stays so: `taken`, whoever asks and whatever the
-- code. A wrong code is counted, so the caller commits whatever the outcome; the fifth kills the hand-off, which is then
-- as absent as one that is over or never was.
CREATE FUNCTION identity.preauth_embed_bind(p_challenge_hash bytea, p_display_code text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  caller CONSTANT uuid := nullif(current_setting('moothall.user_id', true), '')::uuid;
  org CONSTANT uuid := nullif(current_setting('moothall.org_id', true), '')::uuid;
  handoff identity.embed_handoffs;
BEGIN
  -- A guest's operation has a room; embedded sign-ins are told apart by the server.
  IF caller IS NULL OR org IS NULL OR nullif(current_setting('moothall.room_id', true), '') IS NOT NULL
    OR NOT EXISTS (SELECT FROM identity.memberships AS m
                   WHERE m.org_id = org AND m.user_id = caller AND m.joined_at IS NOT NULL AND m.revoked_at IS NULL)
  THEN
    RAISE EXCEPTION USING ERRCODE = '42501', MESSAGE = 'nobody to bind the hand-off to';
  END IF;
  SELECT * INTO handoff FROM identity.embed_handoffs AS h WHERE h.challenge_hash = p_challenge_hash FOR UPDATE;
  IF handoff.challenge_hash IS NULL OR handoff.expires_at <= clock_timestamp() OR handoff.failed_binds >= 5 THEN
    RETURN 'absent';
  END IF;
  IF handoff.bound_at IS NOT NULL THEN
    RETURN 'taken';
  END IF;
  IF handoff.display_code <> p_display_code THEN
    UPDATE identity.embed_handoffs SET failed_binds = failed_binds + 1 WHERE challenge_hash = p_challenge_hash;
    RETURN 'wrong_code';
  END IF;
  UPDATE identity.embed_handoffs SET user_id = caller, org_id = org, bound_at = now()
    WHERE challenge_hash = p_challenge_hash;
  RETURN 'bound';
END
$$;

-- Who the frame may become (ID-32): `pending` while nobody has bound it, nothing once it is used, over or killed. With
-- p_use, in an operation of that person in that org, it is spent on the way: of two at once the second waits and finds it
-- used.
CREATE FUNCTION identity.preauth_embed_redeem(p_challenge_hash bytea, p_use boolean)
RETURNS TABLE (outcome text, user_id uuid, org_id uuid, expires_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF p_use THEN
    RETURN QUERY
      UPDATE identity.embed_handoffs AS h SET used_at = now()
        WHERE h.challenge_hash = p_challenge_hash AND h.bound_at IS NOT NULL AND h.used_at IS NULL
          AND h.expires_at > clock_timestamp()
          AND h.user_id = nullif(current_setting('moothall.user_id', true), '')::uuid
          AND h.org_id = nullif(current_setting('moothall.org_id', true), '')::uuid
        RETURNING 'used', h.user_id, h.org_id, h.expires_at;
  ELSE
    RETURN QUERY
      SELECT CASE WHEN h.bound_at IS NULL THEN 'pending' ELSE 'bound' END, h.user_id, h.org_id, h.expires_at
      FROM identity.embed_handoffs AS h
      WHERE h.challenge_hash = p_challenge_hash AND h.used_at IS NULL AND h.failed_binds < 5
        AND h.expires_at > clock_timestamp();
  END IF;
END
$$;

------------------------------------------------------------------------------------------------------ OpenID Connect

-- Whom a provider's identity is linked to, and the orgs a sign-in may lead to, the most recently used first (ID-28).
CREATE FUNCTION identity.preauth_user_by_oidc(p_issuer text, p_subject text)
RETURNS TABLE (user_id uuid, status text, org_ids uuid[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT u.id, u.status, ARRAY(
    SELECT m.org_id FROM identity.memberships AS m JOIN identity.orgs AS o ON o.id = m.org_id
    WHERE m.user_id = u.id AND m.joined_at IS NOT NULL AND m.revoked_at IS NULL AND o.status IN ('active', 'archived')
    ORDER BY m.last_used_at DESC NULLS LAST, m.joined_at DESC, m.org_id)
  FROM identity.users AS u
  WHERE u.issuer = p_issuer AND u.subject = p_subject AND p_issuer <> ''
$$;

---------------------------------------------------------------------------------------------------------------- sweep

-- The sweep (ID-20): a sign-in stays for thirty days after its end, for whoever looks into a break-in, a mailed token for
-- seven, a hand-off not at all. The server passes the idle and absolute lifetimes it is configured with; a row that
-- another sweep holds is left to it.
CREATE OR REPLACE FUNCTION identity.maint_prune_identity(
  p_limit integer, p_idle interval DEFAULT '14 days', p_max interval DEFAULT '30 days'
) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  kept CONSTANT timestamptz := now() - interval '30 days';
  most CONSTANT integer := least(greatest(p_limit, 0), 10000);
  gone integer := 0;
  more integer;
BEGIN
  DELETE FROM identity.embed_handoffs WHERE challenge_hash IN (
    SELECT challenge_hash FROM identity.embed_handoffs
    WHERE expires_at <= now()
    LIMIT most
    FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS more = ROW_COUNT;
  gone := gone + more;
  DELETE FROM identity.login_tokens WHERE (org_id, id) IN (
    SELECT org_id, id FROM identity.login_tokens
    WHERE expires_at < now() - interval '7 days'
    LIMIT most - gone
    FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS more = ROW_COUNT;
  gone := gone + more;
  DELETE FROM identity.sessions WHERE id IN (
    SELECT id FROM identity.sessions
    WHERE revoked_at < kept OR expires_at < kept
      OR last_seen_at < kept - greatest(p_idle, interval '0') OR created_at < kept - greatest(p_max, interval '0')
    LIMIT most - gone
    FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS more = ROW_COUNT;
  RETURN gone + more;
END
$$;

GRANT EXECUTE ON FUNCTION
  identity.preauth_embed_start(bytea, text, text, text),
  identity.preauth_embed_bind(bytea, text),
  identity.preauth_embed_redeem(bytea, boolean),
  identity.preauth_user_by_oidc(text, text)
TO moothall_app;
