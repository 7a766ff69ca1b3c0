-- Signing in without a password: tokens that reach a person by mail, and the list of those who wait to be let in.

--------------------------------------------------------------------------------------------------------- login tokens

-- A token that was mailed to somebody: a sign-in link with its code, or an invitation. It signs into one org, once. Token
-- and code are kept as hashes, the address it went to is the person's own and stands at them alone. A used token was
-- spent; a voided one was replaced, revoked, or guessed at too often.
CREATE TABLE identity.login_tokens (
  org_id uuid NOT NULL,
  id platform.uuid7 NOT NULL DEFAULT platform.new_id(),
  user_id uuid NOT NULL,
  purpose text NOT NULL CHECK (purpose IN ('sign_in', 'invite')),
  token_hash bytea NOT NULL CONSTRAINT login_tokens_token_hash_key UNIQUE CHECK (octet_length(token_hash) = 32),
  code_hash bytea CHECK (octet_length(code_hash) = 32), -- HMAC-SHA-256 under the pepper, of the id and six digits
  code_attempts smallint NOT NULL DEFAULT 0 CHECK (code_attempts BETWEEN 0 AND 5),
  expires_at timestamptz NOT NULL,
  used_at timestamptz,
  voided_at timestamptz,
  ip inet, -- of whoever asked for it, like user_agent
  user_agent text CHECK (char_length(user_agent) <= 512),
  created_by uuid CONSTRAINT login_tokens_created_by_fkey REFERENCES identity.users (id) ON DELETE SET NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, id),
  CONSTRAINT login_tokens_member_fkey
    FOREIGN KEY (org_id, user_id) REFERENCES identity.memberships (org_id, user_id) ON DELETE CASCADE,
  CONSTRAINT login_tokens_code_check CHECK (code_hash IS NULL OR purpose = 'sign_in'),
  CONSTRAINT login_tokens_attempts_check CHECK (code_attempts < 5 OR voided_at IS NOT NULL),
  CONSTRAINT login_tokens_end_check CHECK (used_at IS NULL OR voided_at IS NULL)
);

-- A person's tokens, the newest first: the code's look-up, the bound of an hour, voiding what is older; and the foreign
-- key to the membership.
CREATE INDEX login_tokens_user_idx ON identity.login_tokens (user_id, created_at DESC);
-- The sweep.
CREATE INDEX login_tokens_expires_idx ON identity.login_tokens (expires_at);
-- Serves the SET NULL alone, when the operator deletes a person.
CREATE INDEX login_tokens_created_by_idx ON identity.login_tokens (created_by) WHERE created_by IS NOT NULL;

ALTER TABLE identity.login_tokens ENABLE ROW LEVEL SECURITY;

-- Rows of the operation's org only, read and written.
CREATE POLICY tenant ON identity.login_tokens FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- A guest has no part in it.
CREATE POLICY guest_none ON identity.login_tokens AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);

-- The hashes are written and never read: what compares them is one of the functions below. A token is fixed but for its
-- end and the misses of its code.
GRANT SELECT (org_id, id, user_id, purpose, code_attempts, expires_at, used_at, voided_at, ip, user_agent, created_by,
  created_at), INSERT ON identity.login_tokens TO moothall_app;
GRANT UPDATE (used_at, voided_at, code_attempts) ON identity.login_tokens TO moothall_app;

-- MH008: a token that was spent or voided stays so.
CREATE TRIGGER login_tokens_ended_once BEFORE UPDATE OF used_at, voided_at ON identity.login_tokens
  FOR EACH ROW EXECUTE FUNCTION platform.set_once('used_at', 'voided_at');

------------------------------------------------------------------------------------------------------------- waitlist

-- Who asked to be let in. Global, no tenant table: they belong to no org yet. The server adds and never looks; the
-- command line reads and removes as the owner.
CREATE TABLE identity.waitlist (
  id platform.uuid7 PRIMARY KEY DEFAULT platform.new_id(),
  email text NOT NULL CONSTRAINT waitlist_email_key UNIQUE
    CHECK (char_length(email) BETWEEN 1 AND 254 AND email = lower(email)),
  note text CHECK (char_length(note) <= 500),
  created_at timestamptz NOT NULL DEFAULT now()
);

ALTER TABLE identity.waitlist ENABLE ROW LEVEL SECURITY;

-- Anybody may put themself on it, also before an org is known. Nothing lets the app see it.
CREATE POLICY join_waitlist ON identity.waitlist FOR INSERT TO moothall_app WITH CHECK (true);
GRANT INSERT (email, note) ON identity.waitlist TO moothall_app;

---------------------------------------------------------------------------------------------- before the org is known

-- What a mailed token opens, with what decides whether it does; the app compares the times with the database's clock.
-- role and joined_at are those of the membership it was made for, null when that is revoked.
CREATE FUNCTION identity.preauth_login_token(p_token_hash bytea)
RETURNS TABLE (token_id uuid, org_id uuid, user_id uuid, purpose text, expires_at timestamptz, used_at timestamptz,
  voided_at timestamptz, role text, joined_at timestamptz, user_status text, org_name text, org_status text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT t.id, t.org_id, t.user_id, t.purpose, t.expires_at, t.used_at, t.voided_at, m.role, m.joined_at, u.status,
    o.name, o.status
  FROM identity.login_tokens AS t
  JOIN identity.users AS u ON u.id = t.user_id
  JOIN identity.orgs AS o ON o.id = t.org_id
  LEFT JOIN identity.memberships AS m ON m.org_id = t.org_id AND m.user_id = t.user_id AND m.revoked_at IS NULL
  WHERE t.token_hash = p_token_hash
$$;

-- The token whose code a person may give: of those that still hold the newest. Compared by the app in constant time.
CREATE FUNCTION identity.preauth_code_token(p_user uuid)
RETURNS TABLE (token_id uuid, org_id uuid, code_hash bytea, code_attempts smallint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT id, org_id, code_hash, code_attempts FROM identity.login_tokens
  WHERE user_id = p_user AND purpose = 'sign_in' AND code_hash IS NOT NULL
    AND used_at IS NULL AND voided_at IS NULL AND expires_at > clock_timestamp()
  ORDER BY created_at DESC, id DESC
  LIMIT 1
$$;

-- Whom an invitation or a sign-in mail reaches: one row per membership that is not revoked, or one with nulls. With it,
-- whether a sign-in token of that org still is open, and how many were made in the last hour, over all orgs.
DROP FUNCTION identity.preauth_user_by_email(text);
CREATE FUNCTION identity.preauth_user_by_email(p_email text)
RETURNS TABLE (user_id uuid, status text, org_id uuid, org_slug text, org_name text, org_status text, role text,
  joined_at timestamptz, last_used_at timestamptz, open_token boolean, tokens_last_hour integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT u.id, u.status, o.id, o.slug, o.name, o.status, m.role, m.joined_at, m.last_used_at,
    EXISTS (
      SELECT FROM identity.login_tokens AS t
      WHERE t.org_id = m.org_id AND t.user_id = u.id AND t.purpose = 'sign_in'
        AND t.used_at IS NULL AND t.voided_at IS NULL AND t.expires_at > now()),
    (SELECT count(*)::integer FROM identity.login_tokens AS t
     WHERE t.user_id = u.id AND t.purpose = 'sign_in' AND t.created_at > now() - interval '1 hour')
  FROM identity.users AS u
  LEFT JOIN identity.memberships AS m ON m.user_id = u.id AND m.revoked_at IS NULL
  LEFT JOIN identity.orgs AS o ON o.id = m.org_id
  WHERE u.email = p_email
  ORDER BY m.last_used_at DESC NULLS LAST, m.joined_at DESC NULLS LAST, o.id
$$;

-- The password hash of the operation's own person, to compare a given password with before it is changed.
CREATE FUNCTION identity.preauth_own_password() RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT password_hash FROM identity.users WHERE id = nullif(current_setting('moothall.user_id', true), '')::uuid
$$;

GRANT EXECUTE ON FUNCTION
  identity.preauth_login_token(bytea),
  identity.preauth_code_token(uuid),
  identity.preauth_user_by_email(text),
  identity.preauth_own_password()
TO moothall_app;
