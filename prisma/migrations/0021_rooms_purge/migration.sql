-- What goes with an org that is purged, now that its rooms hold standups, schedules, kudos and calendar feeds (ID-64).

CREATE OR REPLACE FUNCTION identity.purged_tables()
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
    ('rooms.standup_entry_comments', 't.org_id = $1', 'ctid', 1),
    ('rooms.standup_entry_reactions', 't.org_id = $1', 'ctid', 1),
    ('rooms.standup_entries', 't.org_id = $1', 'ctid', 1),
    ('rooms.standup_mentions', 't.org_id = $1', 'ctid', 1),
    ('rooms.standup_commitments', 't.org_id = $1', 'ctid', 1),
    ('rooms.kudos', 't.org_id = $1', 'ctid', 1),
    ('rooms.standup_trend_days', 't.org_id = $1', 'ctid', 1),
    ('rooms.standup_schedule_slots', 't.org_id = $1', 'ctid', 1),
    ('rooms.standup_ahead_entries', 't.org_id = $1', 'ctid', 1),
    ('rooms.standup_schedules', 't.org_id = $1', 'ctid', 1),
    ('rooms.standup_away', 't.org_id = $1', 'ctid', 1),
    ('rooms.ics_feed_tokens', 't.org_id = $1', 'ctid', 1),
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
