import {
  type GraphQLArgument,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isRequiredArgument,
} from 'graphql'
import { encodeId, type NodeName } from '../../src/graphql/ids.ts'
import { newId } from '../../src/lib/type-id.ts'
import type { Answer } from '../support/client.ts'
import type { Caller, CrawlWorld } from './crawl-world.ts'
import { type Bounds, PAGE, selectionsOf, weightOf } from './full-selection.ts'
import { type Item, type Sighting, sightings } from './planted.ts'
import {
  type FieldPath,
  fieldAt,
  fieldsWithArguments,
  NODE_TYPES,
  nameOf,
  SCHEMA,
  type Slot,
  slotsOf,
  withValue,
} from './schema-walk.ts'

const QUERY = SCHEMA.getQueryType()!
const TOKENS = 1_850
const BATCH = 10
const DEPTH = 13
const NODES = 3
/** Codes that say the test asked wrongly, or the server failed. */
const FAULTS = ['INTERNAL', 'QUERY_TOO_COMPLEX', 'GRAPHQL_VALIDATION_FAILED', 'GRAPHQL_PARSE_FAILED', 'RATE_LIMITED']
const NAMES_ROWS = /\.(eq|neq|in|nin|contains|prefix)(\[\])?$/
const NO_TEXT = 'zqnone'

type Args = Record<string, unknown>
/** Two values of which neither names anything of the caller's; `absent` names nothing at all. */
type Probe = { readonly value: unknown; readonly absent?: unknown; readonly item?: Item }

export class Crawler {
  readonly caller: Caller
  readonly leaks: Sighting[] = []
  readonly seen = new Set<string>()
  readonly #crawl: CrawlWorld
  readonly #hidden: Item[]
  /** Ids of a type that an argument does not take, there or not: asked once, not for each comparison. */
  readonly #misfits = new Set<string>()

  constructor(crawl: CrawlWorld, caller: Caller) {
    this.#crawl = crawl
    this.caller = caller
    this.#hidden = crawl.planted.items.filter(({ realm }) => !caller.sees.has(realm))
  }

  /** Follows every relation from whatever the root fields give this caller. */
  async followAll(): Promise<void> {
    for (const { name, args, type } of Object.values(QUERY.getFields())) {
      for (const { given, typename } of await this.#answered(name, args)) {
        const many = Object.values(given).some(Array.isArray)
        const bounds = this.#boundsOf({ type: QUERY.name, field: name }, given, many ? 1 : NODES)
        for (const selection of selectionsOf(getNamedType(type), bounds, typename)) {
          await this.#ask([{ type: QUERY.name, field: name }], [given], selection)
        }
      }
    }
  }

  /** Ids of others, each with one of its type that names nothing. */
  foreignIds(): { type: string; id: string; absent: string }[] {
    return this.#crawl.planted
      .ids((realm) => !this.caller.sees.has(realm) && !this.#mayReadForTheOrg(realm))
      .map(({ type, id }) => ({ type, id, absent: absentOf(type) }))
  }

  /** Names everything foreign in one argument of one field after another; says which arguments tell it from nothing. */
  async nameForeign(): Promise<string[]> {
    const telling: string[] = []
    for (const way of fieldsWithArguments(QUERY)) {
      const { type, field } = way.at(-1)!
      const { args, type: result } = fieldAt(way.at(-1)!)
      const given = await this.#argumentsAlong(way)
      if (!given) continue
      const bounds = this.#boundsOf(way.at(-1)!, given.at(-1)!, 1)
      const small = { ...bounds, tokens: 140, cost: Math.floor(bounds.cost / (BATCH + 2)) }
      const [selection] = selectionsOf(getNamedType(result), small)
      for (const slot of slotsOf(type, args)) {
        const name = nameOf(`${type}.${field}`, slot)
        const probes = this.#probes(name, slot).filter((probe) => !this.#misfits.has(placeOf(way, slot, probe)))
        for (let at = 0; at < probes.length; at += BATCH) {
          const told = await this.#compare(way, given, slot, probes.slice(at, at + BATCH), selection ?? '')
          telling.push(...told.map(({ item }) => `${name} ${item?.realm} ${item?.what}`))
        }
      }
    }
    return telling
  }

  async #compare(
    way: FieldPath[],
    given: Args[],
    slot: Slot,
    probes: readonly Probe[],
    selection: string,
  ): Promise<Probe[]> {
    const base = given.at(-1)!
    const ask = (values: unknown[]) =>
      this.#ask(
        way,
        given,
        selection,
        values.map((value) => withValue(base, slot, value)),
      )
    const foreign = await ask(probes.map(({ value }) => value))
    // The error of one that must not be null hides its neighbours, so each is asked alone.
    if (foreign.errors && probes.length > 1 && isNonNullType(fieldAt(way.at(-1)!).type)) {
      const told: Probe[] = []
      for (const probe of probes) told.push(...(await this.#compare(way, given, slot, [probe], selection)))
      return told
    }
    if (probes.every(({ absent }) => absent === undefined)) return []
    const absent = await ask(probes.map(({ value, absent }) => absent ?? value))
    for (const [at, probe] of probes.entries()) {
      const { errors } = partOf(absent, way, at) as { errors: { code?: string }[] }
      if (errors.some(({ code }) => code === 'BAD_REQUEST')) this.#misfits.add(placeOf(way, slot, probe))
    }
    const alike = (answer: Answer, at: number, from: unknown, to: unknown) =>
      JSON.stringify(partOf(answer, way, at), withoutClock).replaceAll(String(from), String(to))
    return probes.filter(
      ({ value, absent: nothing, item }, at) =>
        nothing !== undefined &&
        alike(foreign, at, value, nothing) !== alike(absent, at, nothing, nothing) &&
        !(item && this.#mayTell(way[0]!.field, item)),
    )
  }

  /** What to put into a slot. One that cannot be filled fails by its name. */
  #probes(name: string, slot: Slot): Probe[] {
    const type = getNullableType(slot.type)
    if (isInputObjectType(type) || isListType(type)) return [] // their parts are slots themselves
    if (isEnumType(type)) return [{ value: type.getValues()[0]!.name }]
    if (type.name === 'ID') return this.#foreignOfEachType()
    if (type.name === 'String') {
      if (/\.(after|before)$/.test(slot.declared)) return this.#cursors()
      if (slot.declared.startsWith('EventTypeFilter.')) return [{ value: 'room.ended' }]
      const rowsOf = NAMES_ROWS.test(slot.declared)
      return this.#foreignTexts(slot).map((item) => ({ item, value: item.text, ...(rowsOf && { absent: NO_TEXT }) }))
    }
    const value = { Int: 2, Boolean: true, UUID: newId(), DateTime: '2026-01-01T00:00:00Z', BigInt: '1' }[type.name]
    if (value === undefined) throw new Error(`no value for ${name}`)
    return [{ value }]
  }

  /** Texts of others that stand in a field of that name, or else any one of them. */
  #foreignTexts({ path }: Slot): Item[] {
    const texts = this.#crawl.planted.texts((realm) => !this.caller.sees.has(realm))
    const named = texts.filter(({ what }) => path.includes(what.slice(what.indexOf('.') + 1)))
    return named.length > 0 ? named : texts.slice(0, 1)
  }

  /** One foreign id of each type from the caller's own org, where there is one, and from another. */
  #foreignOfEachType(): Probe[] {
    const { planted, otherOrgs } = this.#crawl
    const ids = planted.ids((realm) => !this.caller.sees.has(realm))
    return NODE_TYPES.flatMap((type) =>
      [true, false].flatMap((elsewhere) => {
        const found = ids.find((id) => id.type === type && isElsewhere(otherOrgs, id.realm) === elsewhere)
        if (!found) return []
        const item = { text: found.id, realm: found.realm, what: `${type}.id` }
        return [{ value: found.id, absent: absentOf(type), item }]
      }),
    )
  }

  /** Places in lists that are not the caller's: right in form, made from rows they may not see. */
  #cursors(): Probe[] {
    const uuid = this.#hidden.find(({ what }) => what === 'Room.uuid')?.text ?? newId()
    const text = this.#hidden.find(({ what }) => what === 'Space.name')?.text ?? NO_TEXT
    const of = (values: unknown) => Buffer.from(JSON.stringify(values)).toString('base64url')
    return [['2026-01-01T00:00:00Z', uuid], [text, uuid], [uuid]].map((values) => ({ value: of(values) }))
  }

  /** Arguments of each field along a way that lead somewhere for this caller; null where it leads nowhere. */
  async #argumentsAlong(way: FieldPath[]): Promise<Args[] | null> {
    const [root] = way
    const { args } = fieldAt(root!)
    const given = await this.#answered(root!.field, args)
    if (way.length === 1) {
      if (given[0]) return [alone(given[0].given)]
      const required = args.find(isRequiredArgument)
      return required || (await this.#refuses(root!.field)) ? null : [{}]
    }
    for (const { given: rootArgs } of given) {
      const along = [rootArgs, ...way.slice(1).map(() => ({}))]
      const answer = await this.#ask(way, along, undefined)
      if (partOf(answer, way, undefined) != null) return along
    }
    return null
  }

  async #refuses(field: string): Promise<boolean> {
    const { errors } = await this.#ask([{ type: QUERY.name, field }], [{}], '__typename')
    return errors?.some(({ extensions }) => ['FORBIDDEN', 'UNAUTHENTICATED'].includes(extensions.code ?? '')) ?? false
  }

  /** Of all arguments made from the caller's own ids and slugs, those with which a root field answers something. */
  async #answered(field: string, args: readonly GraphQLArgument[]): Promise<{ given: Args; typename?: string }[]> {
    const found: { given: Args; typename?: string }[] = []
    const selection = isLeafType(getNamedType(fieldAt({ type: QUERY.name, field }).type)) ? '' : '__typename'
    for (const given of this.#ownArguments(field, args)) {
      const { data } = await this.#ask([{ type: QUERY.name, field }], [given], selection)
      const value = data?.[field]
      if (Array.isArray(value) ? value.some((each) => each !== null) : value != null) {
        found.push({ given, ...(!Array.isArray(value) && { typename: value.__typename }) })
      }
    }
    return found
  }

  #ownArguments(field: string, args: readonly GraphQLArgument[]): Args[] {
    const { planted } = this.#crawl
    const own = (realm: string) => this.caller.sees.has(realm) || this.#mayReadForTheOrg(realm)
    const ofEach = new Map(planted.ids(own).map(({ type, id, realm }) => [`${type} ${realm.replace(/:.*/, '')}`, id]))
    const required = args.filter(isRequiredArgument)
    const attempts: Args[] = required.length === 0 ? [{}] : []
    for (const { name, type } of args) {
      const bare = getNullableType(type)
      const others = required.filter((argument) => argument.name !== name)
      if (isListType(bare) && getNamedType(bare).name === 'ID') attempts.push({ [name]: [...ofEach.values()] })
      else if (getNamedType(bare).name === 'ID') attempts.push(...[...ofEach.values()].map((id) => ({ [name]: id })))
      else if (name === 'slug')
        attempts.push(
          ...planted
            .texts(own)
            .filter(({ what }) => what === 'Space.slug')
            .map(({ text }) => ({ slug: text })),
        )
      else if (isNonNullType(type) || others.length > 0) throw new Error(`no value for Query.${field}(${name})`)
    }
    return attempts
  }

  /** Asks one field at the end of a way, several times when `variants` of its arguments are given, and keeps what leaks. */
  async #ask(way: FieldPath[], along: Args[], selection: string | undefined, variants?: Args[]): Promise<Answer> {
    const declared: string[] = []
    const variables: Args = {}
    const call = (step: FieldPath, args: Args, tag: string): string => {
      const passed = Object.entries(args).map(([name, value]) => {
        const variable = `${tag}_${name}`
        variables[variable] = value
        declared.push(`$${variable}: ${fieldAt(step).args.find((argument) => argument.name === name)!.type}`)
        return `${name}: $${variable}`
      })
      return step.field + (passed.length > 0 ? `(${passed.join(', ')})` : '')
    }
    const last = way.at(-1)!
    const inner = selection === undefined ? '{ __typename }' : selection && `{ ${selection} }`
    const lists = getNamedType(fieldAt(last).type).name.endsWith('Connection')
    const asked = (variants ?? [along.at(-1)!]).map((args, at) => {
      const head = call(last, lists && !('first' in args || 'last' in args) ? { ...args, first: PAGE } : args, `v${at}`)
      return `${variants ? `r${at}: ` : ''}${head} ${inner}`
    })
    const document = way
      .slice(0, -1)
      .reduceRight((text, step, at) => `${call(step, along[at]!, `w${at}`)} { __typename ${text} }`, asked.join(' '))
    const head = declared.length > 0 ? `query (${declared.join(', ')})` : 'query'
    const answer = await this.caller.client.send(`${head} { ${document} }`, variables)
    this.#check(answer, way[0]!.field, `${head} { ${document.slice(0, 300)} }`)
    return answer
  }

  #check({ data, errors }: Answer, root: string, document: string): void {
    const fault = errors?.find(({ extensions }) => FAULTS.includes(extensions.code ?? 'INTERNAL'))
    if (fault) throw new Error(`${this.caller.name}: ${JSON.stringify(fault)} for ${document}`)
    const text = JSON.stringify({ data, errors })
    for (const sighting of sightings(data, this.#crawl.planted.items)) this.seen.add(sighting.text)
    const hidden = this.#hidden.filter((item) => text.includes(item.text))
    this.leaks.push(...sightings(data, this.#hidden).filter((sighting) => !this.#mayShow(root, sighting)))
    for (const item of hidden) {
      const inErrors = JSON.stringify(errors ?? []).includes(item.text)
      if (inErrors) this.leaks.push({ ...item, at: 'errors', path: '' })
    }
  }

  /** What stands in the open although its realm does not: the directory, the log, the orgs one could go to. */
  #mayShow(root: string, { realm, what, at }: Sighting): boolean {
    const { registered, admin, name } = this.caller
    const inCursor = /cursor$/i.test(at)
    if (name === 'both' && at.startsWith('OrgSummary.')) return what.startsWith('Org.')
    if (isElsewhere(this.#crawl.otherOrgs, realm)) return false
    if (registered && root === 'spaces' && /^Space\.(id|uuid|slug|name)$/.test(what)) return inCursor || at === what
    if (!admin) return false
    if (root.startsWith('audit') && inCursor) return what === 'AuditEvent.uuid'
    if (at === 'User.email' || at === 'Session.id') return at === what
    return at.startsWith('AuditEvent.') && /^(\w+\.(id|uuid)|Space\.(slug|name))$/.test(what)
  }

  /** Filters may find what is in the open. */
  #mayTell(rootField: string, { realm, what }: Item): boolean {
    const { registered, admin } = this.caller
    if (isElsewhere(this.#crawl.otherOrgs, realm)) return false
    if (rootField === 'spaces') return registered && ['Space.slug', 'Space.name'].includes(what)
    if (rootField === 'auditEvents' || rootField === 'auditFeed') return admin
    return (rootField === 'node' || rootField === 'nodes') && this.#mayReadForTheOrg(realm)
  }

  #mayReadForTheOrg(realm: string): boolean {
    return this.caller.admin && /^(log|session):/.test(realm) && !isElsewhere(this.#crawl.otherOrgs, realm)
  }

  /** What may be selected in a field with these arguments. */
  #boundsOf(step: FieldPath, args: Args, nodes: number): Bounds {
    const { field, multiplier } = weightOf(step.type, fieldAt(step), { first: PAGE, ...args })
    return { cost: Math.floor((this.caller.cost - field) / multiplier), tokens: TOKENS, depth: DEPTH, nodes }
  }
}

/** Of a list its first item, so that nothing stands beside what is put in its place. */
const alone = (args: Args): Args =>
  Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, Array.isArray(value) ? value.slice(0, 1) : value]),
  )

export const absentOf = (type: string): string => encodeId(type as NodeName, newId())

/** What differs from one moment to the next. */
const withoutClock = (key: string, value: unknown) => (['serverNow', 'resetAt', 'remaining'].includes(key) ? 0 : value)

const placeOf = (way: FieldPath[], { path }: Slot, { item }: Probe): string =>
  `${way.map(({ field }) => field).join('.')} ${path.slice(0, 2).join('.')} ${item?.what}`

const isElsewhere = (otherOrgs: ReadonlySet<string>, realm: string) => otherOrgs.has(realm) || realm === 'log:strange'

/** What an answer says to the variant `at`, its errors included. */
function partOf({ data, errors }: Answer, way: FieldPath[], at: number | undefined): unknown {
  const key = at === undefined ? way.at(-1)!.field : `r${at}`
  let value: unknown = data
  for (const { field } of way.slice(0, -1)) value = (value as Record<string, unknown> | null | undefined)?.[field]
  const part = (value as Record<string, unknown> | null | undefined)?.[key]
  if (at === undefined) return part
  const own = errors?.filter(({ path }) => !path || path.includes(key)) ?? []
  return { part, errors: own.map(({ message, extensions: { requestId: _, ...rest } }) => ({ message, ...rest })) }
}
