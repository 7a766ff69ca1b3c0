import type { Egress } from '../../lib/egress/client.ts'

export type WebhookSettings = {
  egress: Egress
  /** Milliseconds one attempt may take. */
  timeout: number
  /** After so many failures a delivery is dead. */
  maxAttempts: number
  /** Milliseconds that a delivery is kept after its end. */
  retention: number
}

let current: WebhookSettings | undefined

/** Called once at start: use-cases take a caller and an input, so what the operator decided reaches them from here. */
export function configureWebhooks(settings: WebhookSettings): void {
  current = settings
}

export function webhookSettings(): WebhookSettings {
  if (!current) throw new Error('webhooks are not configured')
  return current
}
