-- Read with each operation of a socket and each version of a room: planned once a connection. Given an array, PostgreSQL
-- makes a plan for each call, and planning these joins takes several times as long as running them.
ALTER FUNCTION identity.preauth_standings(uuid[], double precision, double precision)
  SET plan_cache_mode = 'force_generic_plan';
ALTER FUNCTION rooms.room_viewers(uuid, uuid[]) SET plan_cache_mode = 'force_generic_plan';
