import './audit/event-types.ts'
import './audit/feed-graphql.ts'
import './audit/graphql.ts'
import './audit/queries.ts'
import './audit/activity-feed.ts'
import './rate-limits/graphql.ts'
import './server-info/graphql.ts'
import './tool-invocations/graphql.ts'
import './webhook/graphql.ts'
import './webhook/mutations.ts'

export { auditFeedLag } from './audit/lag.ts'
export { registerSight } from './audit/named-ids.ts'
export { nodeId } from './audit/node-ids.ts'
export type { Projection, ProjectionForm, RecordedEvent, RowsById } from './audit/projection.ts'
export { type Readers, registerPlace } from './audit/readers.ts'
export { type Actor, EventFaultError, type Facts, record } from './audit/record.ts'
export { defineEvent, type EventType, eventTypesMatching } from './audit/registry.ts'
export { registerSpaceSlugs } from './audit/space-slug.ts'
export { fingerprintOf } from './idempotency/fingerprint.ts'
export { treatsItsRetries } from './idempotency/own-retries.ts'
export { type Answer, runOnce } from './idempotency/run-once.ts'
export {
  createKeyring,
  currentKeyId,
  type KeyringOptions,
  sealSecret,
  setKeyring,
  unsealSecret,
} from './keyring/keyring.ts'
export { requireSealingKeys } from './keyring/require-sealing-keys.ts'
export { rewrapSealedColumns } from './keyring/rewrap.ts'
export { registerSealedColumn } from './keyring/sealed-columns.ts'
export { addressKey } from './rate-limits/address.ts'
export { signInLimits, startAttempt } from './rate-limits/attempt.ts'
export { createRateLimiter, type RateLimiter, type RateLimitState } from './rate-limits/rate-limiter.ts'
export { openRateLimitPool, postgresStore, type RateLimitStore, redisStore } from './rate-limits/stores.ts'
export { platformSweeps } from './sweeps.ts'
export { recordToolInvocation, type ToolCall } from './tool-invocations/record-tool-invocation.ts'
export { configureToolInvocations } from './tool-invocations/settings.ts'
export { webhookDeliveries } from './webhook/deliver.ts'
export { configureWebhooks } from './webhook/settings.ts'
export { registerSpaceOwners } from './webhook/space-owners.ts'
