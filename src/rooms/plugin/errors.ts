import { errorType } from '../../graphql/error-types.ts'
import { DomainError } from '../../graphql/errors.ts'

export class PluginDisabledError extends DomainError {
  override readonly name = 'PluginDisabledError'
  readonly code = 'PLUGIN_DISABLED'
  constructor() {
    super('The plugin that runs this kind of room is off or gone.')
  }
}

export class PluginFaultError extends DomainError {
  override readonly name = 'PluginFaultError'
  readonly code = 'PLUGIN_FAULT'
  /** Whether the same may go well another time. */
  readonly retryable: boolean
  constructor(retryable: boolean) {
    super('The plugin failed; nothing was changed.')
    this.retryable = retryable
  }
}

errorType(PluginDisabledError, {
  description: 'The plugin that runs this kind of room is disabled, uninstalled or no longer has the kind (ROOM-163).',
})
errorType(PluginFaultError, {
  description: 'The plugin failed or answered with what the room cannot be; the room is as before (ROOM-161).',
  fields: (t) => ({
    retryable: t.exposeBoolean('retryable', { description: 'Whether the same may go well another time.' }),
  }),
})
