import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const COMPILER = join(import.meta.dirname, '../../node_modules/relay-compiler/cli.js')

/** What the compiler made of a project: the documents that are sent, by name; or what it has against it. */
export type Compiled = { texts: Map<string, string>; complaint?: string }

/** Lays a Relay application of these documents, a file each, beside the schema, and compiles it. */
export async function compileRelay(schema: string, documents: Readonly<Record<string, string>>): Promise<Compiled> {
  const root = await mkdtemp(join(tmpdir(), 'moothall-relay-'))
  try {
    await mkdir(join(root, 'src'))
    await mkdir(join(root, 'made'))
    const config = {
      src: './src',
      schema: './schema.graphql',
      language: 'typescript',
      artifactDirectory: './made',
      eagerEsModules: true,
      customScalarTypes: { BigInt: 'string', DateTime: 'string', JSON: 'unknown', UUID: 'string' },
    }
    await writeFile(join(root, 'relay.config.json'), JSON.stringify(config))
    await writeFile(join(root, 'schema.graphql'), schema)
    for (const [name, text] of Object.entries(documents)) {
      await writeFile(join(root, 'src', `${name}.ts`), `import { graphql } from 'react-relay'\ngraphql\`${text}\`\n`)
    }
    // Without a file watcher of its own, which it would ask for the files first.
    const env = { ...process.env, FORCE_NO_WATCHMAN: '1' }
    await run(process.execPath, [COMPILER, join(root, 'relay.config.json')], { cwd: root, env, timeout: 100_000 })
    return { texts: await textsIn(join(root, 'made')) }
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as { stdout?: string; stderr?: string; message: string }
    return { texts: new Map(), complaint: `${stdout}${stderr}` || message }
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

/** Artifacts are modules whose requests hold what is sent as a string. */
async function textsIn(directory: string): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  for (const file of await readdir(directory)) {
    const [, text] = /^ {4}"text": ("(?:[^"\\]|\\.)*"),?$/m.exec(await readFile(join(directory, file), 'utf8')) ?? []
    if (text) texts.set(file.replace(/\.graphql\.ts$/, ''), JSON.parse(text))
  }
  return texts
}
