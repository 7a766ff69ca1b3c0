import { sql } from '../../db/sql.ts'
import { type DeclaredKind, readKind, UnfitKindError } from './declaration.ts'

export type KindProvider = {
  readonly orgId: string
  readonly installId: string
  /** The plugin's name: what it declares again after it was gone is its own again. */
  readonly provider: string
}

/**
 * Takes the kinds that a plugin declares now, in the operation that installs or upgrades it. Those it declared before are
 * revived or changed; those it declares no more are retired (ROOM-160, 163). Throws UnfitKindError, then all of it is off.
 */
export async function registerKinds(by: KindProvider, kinds: readonly DeclaredKind[]): Promise<void> {
  const { orgId, installId, provider } = by
  const read = kinds.map((declared) => ({ ...declared, declaration: readKind(declared) }))
  const twice = kinds.find(({ kind }, at) => kinds.findIndex((each) => each.kind === kind) < at)
  if (twice) throw new UnfitKindError(twice.kind, 'it is declared twice')
  for (const { kind, display, declaration } of read.toSorted((a, b) => (a.kind < b.kind ? -1 : 1))) {
    const taken = provider === 'core' || !(await put(by, { kind, display, actions: declaration }))
    if (taken) throw new UnfitKindError(kind, 'somebody else has a kind of that name')
  }
  await sql`
    UPDATE rooms.room_kinds SET retired_at = now(), install_id = NULL
    WHERE org_id = ${orgId} AND provider = ${provider} AND provider <> 'core' AND retired_at IS NULL
      AND (install_id IS DISTINCT FROM ${installId} OR kind <> ALL (${kinds.map(({ kind }) => kind)}::text[]))`
}

/** One kind; false where another plugin has the name, or it is a core kind. */
async function put(
  { orgId, installId, provider }: KindProvider,
  { kind, display, actions }: { kind: string; display: string; actions: object },
): Promise<boolean> {
  const own = await sql`
    INSERT INTO rooms.room_kinds (org_id, kind, provider, display, install_id, actions)
    VALUES (${orgId}, ${kind}, ${provider}, ${display}, ${installId}, ${JSON.stringify(actions)}::jsonb)
    ON CONFLICT (org_id, kind) DO UPDATE
      SET display = excluded.display, retired_at = NULL, install_id = excluded.install_id, actions = excluded.actions
      WHERE room_kinds.provider = excluded.provider
    RETURNING 1`
  return own.length > 0
}

/** A plugin is uninstalled: its rooms stay, and its kinds make no more (ROOM-163). */
export async function retireKinds({ orgId, installId }: { orgId: string; installId: string }): Promise<void> {
  await sql`
    UPDATE rooms.room_kinds SET retired_at = now(), install_id = NULL
    WHERE org_id = ${orgId} AND install_id = ${installId}`
}
