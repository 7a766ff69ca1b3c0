import { enumOf } from '../../graphql/enums.ts'
import type { AGENT_KINDS, AgentMode, AgentStatus, IntentMode, ProjectScope } from './agent.ts'

export const AgentKindEnum = enumOf<(typeof AGENT_KINDS)[number]>('AgentKind', 'Whose agent it is.', {
  agent: 'One that the org made.',
  system: 'The server’s own, `console`: it stays as it is.',
})

export const AgentStatusEnum = enumOf<AgentStatus>('AgentStatus', 'Whether an agent’s calls are let through.', {
  active: 'They are.',
  suspended: 'They are refused as AGENT_SUSPENDED.',
  stopped: 'They are refused as AGENT_STOPPED, until an owner or admin resumes it in person.',
})

export const AgentModeEnum = enumOf<AgentMode>(
  'AgentMode',
  'How far an agent reaches, within the scopes of its keys.',
  {
    read: 'It changes nothing.',
    write: 'It may change what its keys are good for.',
  },
)

export const ProjectScopeEnum = enumOf<ProjectScope>('ProjectScope', 'Which projects an agent reaches.', {
  all: 'Every project of the org, later ones too.',
  listed: 'Those listed for it and no others; an empty list is no project.',
})

export const IntentModeEnum = enumOf<IntentMode>(
  'IntentMode',
  'Whether an agent’s actions come with a signed intent.',
  {
    off: 'An intent is not read.',
    optional: 'One that is there is checked.',
    required: 'Without one nothing is admitted.',
  },
)
