-- What agents called: the log of their tool calls.

----------------------------------------------------------------------------------------------------- tool_invocations

-- One call of a tool by an agent, written when it has ended, refused and failed ones too. Arguments are redacted and cut
-- before they come here. The key stays as a value; the request is that of the event beside the row, which outlives it.
CREATE TABLE platform.tool_invocations (
  org_id uuid NOT NULL,
  id platform.uuid7 NOT NULL DEFAULT platform.new_id(),
  agent_id uuid NOT NULL,
  api_key_id uuid,
  request_id uuid,
  tool_name text NOT NULL CHECK (tool_name ~ '^[a-z][a-z0-9_.-]{0,127}$'),
  arguments jsonb NOT NULL CHECK (octet_length(arguments::text) <= 4096),
  result_status text NOT NULL CHECK (result_status ~ '^(ok|error\.[A-Z_]+)$' AND char_length(result_status) <= 100),
  error_message text CHECK (char_length(error_message) <= 1024),
  duration_ms integer NOT NULL CHECK (duration_ms >= 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, id),
  CONSTRAINT tool_invocations_agent_fkey FOREIGN KEY (org_id, agent_id)
    REFERENCES identity.agents (org_id, id) ON DELETE RESTRICT
);

-- The log, newest first.
CREATE INDEX tool_invocations_newest_idx ON platform.tool_invocations (org_id, created_at DESC, id DESC);
-- What one agent called.
CREATE INDEX tool_invocations_agent_idx ON platform.tool_invocations (org_id, agent_id, created_at DESC);
-- What one request called.
CREATE INDEX tool_invocations_request_idx ON platform.tool_invocations (org_id, request_id);
-- The sweep, oldest first.
CREATE INDEX tool_invocations_created_idx ON platform.tool_invocations (created_at);

ALTER TABLE platform.tool_invocations ENABLE ROW LEVEL SECURITY;

-- Rows of the operation's org only, read and written.
CREATE POLICY tenant ON platform.tool_invocations FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- A guest of a room learns nothing of the org's agents.
CREATE POLICY guest_none ON platform.tool_invocations AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL);

-- What was called was called: the app changes no row and removes none.
GRANT SELECT, INSERT ON platform.tool_invocations TO moothall_app;

-- Removes what is older than its time, which is configuration and comes in milliseconds; the oldest first.
CREATE FUNCTION platform.maint_prune_tool_invocations(p_limit integer, p_kept double precision) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  gone integer;
BEGIN
  DELETE FROM platform.tool_invocations WHERE (org_id, id) IN (
    SELECT org_id, id FROM platform.tool_invocations
    WHERE created_at <= now() - p_kept * interval '1 ms'
    ORDER BY created_at
    LIMIT least(greatest(p_limit, 0), 100000)
    FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS gone = ROW_COUNT;
  RETURN gone;
END
$$;

GRANT EXECUTE ON FUNCTION platform.maint_prune_tool_invocations(integer, double precision) TO moothall_app;

