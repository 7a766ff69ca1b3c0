import { settingUserDisabled } from './setting-user-disabled.ts'

/** Lets somebody in again who was shut out. */
export const command = settingUserDisabled(false, 'let in again')
