-- Standups: what people say, in which order they speak, and what others say to it. Schedules, commitments, kudos and
-- calendar feeds follow in migrations of their own.

-- The core kinds an org is born with. Definer, because the app may not insert them; replaced as core kinds are added.
CREATE OR REPLACE FUNCTION rooms.org_room_kinds() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  INSERT INTO rooms.room_kinds (org_id, kind, provider, display) VALUES
    (NEW.id, 'poker', 'core', 'Planning poker'),
    (NEW.id, 'standup', 'core', 'Standup');
  RETURN NULL;
END
$$;

INSERT INTO rooms.room_kinds (org_id, kind, provider, display)
SELECT id, 'standup', 'core', 'Standup' FROM identity.orgs WHERE status IN ('active', 'archived');

-- What one person says in one standup, and their place in it. Stays when they leave (ROOM-23).
CREATE TABLE rooms.standup_entries (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  room_id uuid NOT NULL,
  user_id uuid NOT NULL REFERENCES identity.users ON DELETE CASCADE,
  yesterday text NOT NULL DEFAULT '' CHECK (char_length(yesterday) <= 2000),
  today text NOT NULL DEFAULT '' CHECK (char_length(today) <= 2000),
  blockers text NOT NULL DEFAULT '' CHECK (char_length(blockers) <= 2000),
  skipped boolean NOT NULL DEFAULT false,
  ready boolean NOT NULL DEFAULT false,
  speak_order integer, -- null: not in the order
  spoken_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, room_id, user_id),
  FOREIGN KEY (org_id, room_id) REFERENCES rooms.rooms ON DELETE CASCADE
);
-- For its foreign key, and what somebody said in all standups.
CREATE INDEX standup_entries_of_user_idx ON rooms.standup_entries (org_id, user_id);

-- What members say to an entry (ROOM-98).
CREATE TABLE rooms.standup_entry_comments (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  id platform.uuid7 NOT NULL DEFAULT platform.new_id(),
  room_id uuid NOT NULL,
  entry_user_id uuid NOT NULL,
  author_id uuid NOT NULL REFERENCES identity.users ON DELETE CASCADE,
  text text NOT NULL CHECK (char_length(text) BETWEEN 1 AND 500),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, id),
  FOREIGN KEY (org_id, room_id, entry_user_id) REFERENCES rooms.standup_entries ON DELETE CASCADE
);
-- An entry's comments in the order they came.
CREATE INDEX standup_entry_comments_order_idx ON rooms.standup_entry_comments (org_id, room_id, entry_user_id, id);
-- For its foreign key alone.
CREATE INDEX standup_entry_comments_of_author_idx ON rooms.standup_entry_comments (org_id, author_id);

-- One of a few signs, each once a person and entry.
CREATE TABLE rooms.standup_entry_reactions (
  org_id uuid NOT NULL REFERENCES identity.orgs ON DELETE RESTRICT,
  room_id uuid NOT NULL,
  entry_user_id uuid NOT NULL,
  user_id uuid NOT NULL REFERENCES identity.users ON DELETE CASCADE,
  emoji text NOT NULL CHECK (emoji IN ('👍', '❤️', '🎉', '👀', '🙏', '💡')),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, room_id, entry_user_id, user_id, emoji),
  FOREIGN KEY (org_id, room_id, entry_user_id) REFERENCES rooms.standup_entries ON DELETE CASCADE
);
-- For its foreign key alone.
CREATE INDEX standup_entry_reactions_of_user_idx ON rooms.standup_entry_reactions (org_id, user_id);

-- Keeps updated_at.
CREATE TRIGGER touch BEFORE UPDATE ON rooms.standup_entries FOR EACH ROW EXECUTE FUNCTION platform.touch();

ALTER TABLE rooms.standup_entries ENABLE ROW LEVEL SECURITY;
ALTER TABLE rooms.standup_entry_comments ENABLE ROW LEVEL SECURITY;
ALTER TABLE rooms.standup_entry_reactions ENABLE ROW LEVEL SECURITY;

-- An org sees its own entries.
CREATE POLICY tenant ON rooms.standup_entries FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- A guest sees the entries of one room.
CREATE POLICY guest_room ON rooms.standup_entries AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL
    OR room_id = (SELECT nullif(current_setting('moothall.room_id', true), '')::uuid));
-- An org sees its own comments.
CREATE POLICY tenant ON rooms.standup_entry_comments FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- A guest sees the comments of one room.
CREATE POLICY guest_room ON rooms.standup_entry_comments AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL
    OR room_id = (SELECT nullif(current_setting('moothall.room_id', true), '')::uuid));
-- An org sees its own reactions.
CREATE POLICY tenant ON rooms.standup_entry_reactions FOR ALL TO moothall_app
  USING (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid))
  WITH CHECK (org_id = (SELECT nullif(current_setting('moothall.org_id', true), '')::uuid));
-- A guest sees the reactions of one room.
CREATE POLICY guest_room ON rooms.standup_entry_reactions AS RESTRICTIVE FOR ALL TO moothall_app
  USING ((SELECT nullif(current_setting('moothall.room_id', true), '')::uuid) IS NULL
    OR room_id = (SELECT nullif(current_setting('moothall.room_id', true), '')::uuid));

-- Keys, created_at and updated_at are written by nobody after the insert; what was said to an entry is never changed.
GRANT SELECT, INSERT, DELETE, UPDATE (yesterday, today, blockers, skipped, ready, speak_order, spoken_at)
  ON rooms.standup_entries TO moothall_app;
GRANT SELECT, INSERT, DELETE ON rooms.standup_entry_comments, rooms.standup_entry_reactions TO moothall_app;
