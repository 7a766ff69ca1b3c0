const ANY = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const RFC = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** Whatever PostgreSQL writes for a `uuid`. */
export const isUuid = (value: unknown): value is string => typeof value === 'string' && ANY.test(value)

/** Of one of the versions of RFC 9562, in lower case: what callers may bring. */
export const isRfcUuid = (value: unknown): value is string => typeof value === 'string' && RFC.test(value)

/** What our own ids are. */
export const isUuidV7 = (value: unknown): value is string => typeof value === 'string' && V7.test(value)
