import { enumOf } from '../../graphql/enums.ts'

export type DisabledReason = 'manual' | 'failing' | 'gone'
export type DeliveryState = 'pending' | 'delivered' | 'dead'
export type AttemptStatus = 'succeeded' | 'failed'

export const WebhookDisabledReasonEnum = enumOf<DisabledReason>('WebhookDisabledReason', 'Why an endpoint is off.', {
  manual: 'Somebody switched it off.',
  failing: 'Nothing got through for five days.',
  gone: 'It answered that it is no more (410).',
})

export const WebhookDeliveryStateEnum = enumOf<DeliveryState>('WebhookDeliveryState', 'How far a delivery is.', {
  pending: 'It is due, waits for its next attempt, or for its endpoint to be on again.',
  delivered: 'The endpoint took it.',
  dead: 'It was given up.',
})

export const WebhookAttemptStatusEnum = enumOf<AttemptStatus>('WebhookAttemptStatus', 'How an attempt ended.', {
  succeeded: 'With an answer of 200 to 299.',
  failed: 'In any other way.',
})
