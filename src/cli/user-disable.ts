import { settingUserDisabled } from './setting-user-disabled.ts'

/** Lets somebody in nowhere any more; what they wrote and where they belong stays. */
export const command = settingUserDisabled(true, 'shut out')
