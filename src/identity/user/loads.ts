import { rowsById } from '../../db/rows.ts'
import { batchLoad } from '../../graphql/loads.ts'

/** A person or agent whom the operation may see; null for anybody else, gone or foreign alike (ID-9). */
export const userById = batchLoad(rowsById('User'))
