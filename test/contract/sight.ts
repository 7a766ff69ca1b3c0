import type { Caller, CrawlWorld } from './crawl-world.ts'
import type { Item, Sighting } from './planted.ts'

/** What of a planted world is one caller's to see: realms as a whole, and what stands in the open beside them. */
export class Sight {
  readonly #caller: Caller
  readonly #otherOrgs: ReadonlySet<string>

  constructor({ otherOrgs }: CrawlWorld, caller: Caller) {
    this.#caller = caller
    this.#otherOrgs = otherOrgs
  }

  readonly isTheirs = (realm: string): boolean => this.#caller.sees.has(realm)

  isElsewhere(realm: string): boolean {
    return this.#otherOrgs.has(realm)
  }

  /** Whether an item may stand in an answer although its realm is not theirs: the directory, the log, one's own orgs. */
  mayShow(root: string, { realm, what, at, path }: Sighting): boolean {
    const { registered, viewer, admin, name } = this.#caller
    const inCursor = /cursor$/i.test(at)
    if (name === 'both' && at.startsWith('OrgSummary.')) return what.startsWith('Org.')
    if (this.isElsewhere(realm)) return false
    if (registered && root === 'spaces' && /^Space\.(id|uuid|slug|name)$/.test(what)) return inCursor || at === what
    if (viewer && /^Org\.(settings|stopReason)$/.test(what)) return at === what
    if (viewer && what === 'Member.username') return inCursor ? root === 'members' : at === what
    if (!admin) return false
    // The space that an endpoint is told of, as the directory has it.
    const ofHook = /^(webhooks?|nodes?)$/.test(root) && /space/i.test(path)
    if (ofHook && at === what && /^Space\.(id|slug|name)$/.test(what)) return true
    if (/^(audit|activity)/.test(root) && inCursor) return what === 'AuditEvent.uuid'
    if (root === 'orgSessions' && inCursor) return what === 'Session.uuid'
    if (at === 'User.email' || at === 'Session.id') return at === what
    if (/^AuditEvent\.(reason|orgSlug)$/.test(what)) return at === what
    return at.startsWith('AuditEvent.') && /^(\w+\.(id|uuid)|Space\.(slug|name))$/.test(what)
  }

  /** Whether an argument may find an item: filters find what is in the open. */
  mayTell(root: string, { realm, what }: Item): boolean {
    const { registered, viewer, admin } = this.#caller
    if (this.isElsewhere(realm)) return false
    if (root === 'spaces') return registered && ['Space.slug', 'Space.name'].includes(what)
    if (root === 'members' || root === 'member') return viewer && what === 'Member.username'
    if (root === 'webhooks') return admin && what === 'Space.id'
    if (root === 'auditEvents' || root === 'auditFeed') return admin
    return (root === 'node' || root === 'nodes') && this.readsForTheOrg(realm)
  }

  /** The log and the sessions of the org are its admins' to look up. */
  readsForTheOrg(realm: string): boolean {
    return this.#caller.admin && /^(log|session):/.test(realm) && !this.isElsewhere(realm)
  }
}
