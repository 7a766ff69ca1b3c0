import { onOrgPurgeStep, purgeOf } from '../identity/index.ts'

/** What an org's rooms leave when it is purged, leaves first: nothing (ID-64). */
onOrgPurgeStep(
  purgeOf([
    'rooms.votes',
    'rooms.round_voters',
    'rooms.standup_entry_comments',
    'rooms.standup_entry_reactions',
    'rooms.standup_entries',
    'rooms.standup_mentions',
    'rooms.standup_commitments',
    'rooms.kudos',
    'rooms.standup_trend_days',
    'rooms.standup_schedule_slots',
    'rooms.standup_ahead_entries',
    'rooms.standup_schedules',
    'rooms.standup_away',
    'rooms.ics_feed_tokens',
    'rooms.room_events',
    'rooms.room_presence',
    'rooms.room_participants',
    'rooms.room_guests',
    'rooms.room_links',
    'rooms.rooms',
    'rooms.stories',
    'rooms.decks',
    'rooms.space_members',
    'rooms.spaces',
    'rooms.room_kinds',
  ]),
)
