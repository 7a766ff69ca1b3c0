-- Hints that may travel over Redis. NOTIFY takes a lock of the whole cluster at commit, so writers that would commit
-- together queue up behind one another. A server with a Redis bus therefore asks, with the setting moothall.hints of its
-- transaction, to be handed what the transaction would notify, and publishes it once the commit is answered.

---------------------------------------------------------------------------------------------------------------- sender

-- Sends a hint by NOTIFY, or where the transaction collects its hints adds it to them, once; what a savepoint takes back is
-- taken back here as it is there. The setting is text of "channel payload" lines behind a first line that only says that
-- somebody collects. It widens nothing: whoever set it by hand would keep hints, which readers poll for, from being sent.
CREATE FUNCTION platform.send_hint(p_channel text, p_payload text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  collected text := current_setting('moothall.hints', true);
  hint text := p_channel || ' ' || p_payload || E'\n';
BEGIN
  -- A bulk change is no burst of single commits; it goes by NOTIFY rather than swell with each row.
  IF coalesce(collected, '') = '' OR length(collected) > 16384 THEN
    PERFORM pg_notify(p_channel, p_payload);
  ELSIF strpos(collected, E'\n' || hint) = 0 THEN
    PERFORM set_config('moothall.hints', collected || hint, true);
  END IF;
END
$$;
REVOKE ALL ON FUNCTION platform.send_hint(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION platform.send_hint(text, text) TO moothall_app;

--------------------------------------------------------------------------------------------------------------- channels
-- Rooms and audit news are hints to readers that follow a version or a cursor and look again by themselves: a server that
-- dies between its commit and the publishing delays them by one poll. Channel moothall_identity stays with NOTIFY, since an
-- ended sign-in must reach every process whatever becomes of Redis, and so does moothall_jobs, which any process serves.

-- The one sender on channel moothall_rooms (ROOM-175): which room changed, with "p" when only who is present did.
CREATE OR REPLACE FUNCTION rooms.notify_room(p_org uuid, p_room uuid, p_presence boolean DEFAULT false) RETURNS void
LANGUAGE sql VOLATILE
BEGIN ATOMIC
  SELECT platform.send_hint('moothall_rooms',
    format('{"v":1,"o":"%s","r":"%s"%s}', p_org, p_room, CASE WHEN p_presence THEN ',"p":1' END));
END;

-- The one sender on channel moothall_audit: the org that has news.
CREATE OR REPLACE FUNCTION platform.notify_audit() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM platform.send_hint('moothall_audit', news.org_id::text) FROM (SELECT DISTINCT org_id FROM inserted) AS news;
  RETURN NULL;
END
$$;
