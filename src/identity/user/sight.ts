import { prisma } from '../../db/prisma.ts'
import { callerOf } from '../../graphql/builder.ts'
import { registerSight } from '../../platform/index.ts'
import { findableUsers } from './access.ts'

registerSight('User', { model: prisma.user, visible: (context) => findableUsers(callerOf(context)) })
