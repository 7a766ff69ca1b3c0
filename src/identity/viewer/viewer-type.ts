import { builder } from '../../graphql/builder.ts'

/** Whoever asks. It holds nothing: its fields answer from the context, so it can be returned by whatever changes it. */
export const ViewerType = builder.objectRef<object>('Viewer')

export const viewer = {}
