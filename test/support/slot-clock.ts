import type { World } from './world.ts'

/** The clock that slots and windows of a test's database go by. */
export type SlotClock = {
  /** Sets it, and lets every server look what is due. */
  set(instant: string): Promise<void>
}

/** Replaces the one function that tells the time to schedules (ROOM-122); the servers notice nothing. */
export async function slotClock(world: World, instant: string): Promise<SlotClock> {
  await world.sql('CREATE TABLE rooms.test_clock (now timestamptz NOT NULL)')
  await world.sql('INSERT INTO rooms.test_clock VALUES ($1)', [instant])
  await world.sql(
    `CREATE OR REPLACE FUNCTION rooms.clock() RETURNS timestamptz LANGUAGE sql STABLE SECURITY DEFINER
     SET search_path = pg_catalog, pg_temp RETURN (SELECT now FROM rooms.test_clock)`,
  )
  return {
    set: async (at) => {
      await world.sql('UPDATE rooms.test_clock SET now = $1', [at])
      await world.sql(`SELECT platform.notify_jobs('standup_opening')`)
    },
  }
}
