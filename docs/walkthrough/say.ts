/** One line of the walk. */
export const say = (text: string): void => void process.stdout.write(`${text}\n`)

export const chapter = (title: string): void => say(`\n${title}\n`)
