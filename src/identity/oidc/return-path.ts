const MAX_LENGTH = 512
/** A path on our own origin, as it will be repeated to the browser: one slash first, printable ASCII, no backslash. */
const PATH = /^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/

/** Where to go after signing in; anything but a path of ours is the front page. */
export const returnPath = (asked: string | null): string =>
  asked !== null && asked.length <= MAX_LENGTH && PATH.test(asked) ? asked : '/'
