import {
  type GraphQLArgument,
  getNamedType,
  getNullableType,
  isLeafType,
  isListType,
  isNonNullType,
  isRequiredArgument,
} from 'graphql'
import type { Answer } from '../support/client.ts'
import type { Caller, CrawlWorld } from './crawl-world.ts'
import { type Bounds, PAGE, selectionsOf, weightOf } from './full-selection.ts'
import { absentOf, type Item, type Sighting, sightings } from './planted.ts'
import { type Probe, probesFor } from './probes.ts'
import {
  type FieldPath,
  fieldAt,
  fieldsWithArguments,
  nameOf,
  SCHEMA,
  type Slot,
  slotsOf,
  withValue,
} from './schema-walk.ts'
import { Sight } from './sight.ts'

const QUERY = SCHEMA.getQueryType()!
const TOKENS = 1_850
const BATCH = 10
const DEPTH = 13
const NODES = 3
/** Codes that say the test asked wrongly, or the server failed. */
const FAULTS = ['INTERNAL', 'QUERY_TOO_COMPLEX', 'GRAPHQL_VALIDATION_FAILED', 'GRAPHQL_PARSE_FAILED', 'RATE_LIMITED']

type Args = Record<string, unknown>

export class Crawler {
  readonly caller: Caller
  readonly leaks: Sighting[] = []
  readonly seen = new Set<string>()
  readonly #crawl: CrawlWorld
  readonly #sight: Sight
  readonly #hidden: Item[]
  /** Ids of a type that an argument does not take, there or not: asked once, not for each comparison. */
  readonly #misfits = new Set<string>()

  constructor(crawl: CrawlWorld, caller: Caller) {
    this.#crawl = crawl
    this.caller = caller
    this.#sight = new Sight(crawl, caller)
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
      .ids((realm) => !this.caller.sees.has(realm) && !this.#sight.readsForTheOrg(realm))
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
        const probes = probesFor(name, slot, this.#crawl.planted, this.#sight).filter(
          (probe) => !this.#misfits.has(placeOf(way, slot, probe)),
        )
        const batch = batchOf(selection ?? '')
        for (let at = 0; at < probes.length; at += batch) {
          const told = await this.#compare(way, given, slot, probes.slice(at, at + batch), selection ?? '')
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
        !(item && this.#sight.mayTell(way[0]!.field, item)),
    )
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
    const own = (realm: string) => this.caller.sees.has(realm) || this.#sight.readsForTheOrg(realm)
    const ofEach = new Map(planted.ids(own).map(({ type, id, realm }) => [`${type} ${realm.replace(/:.*/, '')}`, id]))
    const required = args.filter(isRequiredArgument)
    const attempts: Args[] = required.length === 0 ? [{}] : []
    for (const { name, type } of args) {
      const bare = getNullableType(type)
      const others = required.some((argument) => argument.name !== name)
      if (others && !isNonNullType(type)) continue // by itself it asks nothing
      if (isListType(bare) && getNamedType(bare).name === 'ID') attempts.push({ [name]: [...ofEach.values()] })
      else if (getNamedType(bare).name === 'ID') attempts.push(...[...ofEach.values()].map((id) => ({ [name]: id })))
      else if (name === 'slug')
        attempts.push(
          ...planted
            .texts(own)
            .filter(({ what }) => what === 'Space.slug')
            .map(({ text }) => ({ slug: text })),
        )
      else if (name === 'token')
        continue // nobody has one
      else if (isNonNullType(type) || others) throw new Error(`no value for Query.${field}(${name})`)
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
    this.leaks.push(...sightings(data, this.#hidden).filter((sighting) => !this.#sight.mayShow(root, sighting)))
    for (const item of hidden) {
      const inErrors = JSON.stringify(errors ?? []).includes(item.text)
      if (inErrors) this.leaks.push({ ...item, at: 'errors', path: '' })
    }
  }

  /** What may be selected in a field with these arguments. */
  #boundsOf(step: FieldPath, args: Args, nodes: number): Bounds {
    const { field, multiplier } = weightOf(step.type, fieldAt(step), { first: PAGE, ...args })
    return { cost: Math.floor((this.caller.cost - field) / multiplier), tokens: TOKENS, depth: DEPTH, nodes }
  }
}

/** How often a selection may stand in one document: each time brings its aliases, of which there are 30 at most. */
const batchOf = (selection: string): number =>
  Math.max(1, Math.min(BATCH, Math.floor(30 / (1 + [...selection.matchAll(/\w: /g)].length))))

/** Of a list its first item, so that nothing stands beside what is put in its place. */
const alone = (args: Args): Args =>
  Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, Array.isArray(value) ? value.slice(0, 1) : value]),
  )

/** What differs from one moment to the next. */
const withoutClock = (key: string, value: unknown) => (['serverNow', 'resetAt', 'remaining'].includes(key) ? 0 : value)

const placeOf = (way: FieldPath[], { path }: Slot, { item }: Probe): string =>
  `${way.map(({ field }) => field).join('.')} ${path.slice(0, 2).join('.')} ${item?.what}`

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
