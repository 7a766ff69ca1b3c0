// `npm run build`: the server as plain JavaScript in dist/, to be run with production dependencies alone. Development and
// tests run the TypeScript itself.
import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')

rmSync(dist, { recursive: true, force: true })
const { status } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['--project', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
})
if (status !== 0) process.exit(status ?? 1)

for (const path of [
  'prisma/migrations',
  'src/transport/graphiql/boot.js',
  'src/transport/graphiql/render.js',
  'src/transport/sign-in/page.js',
  'LICENSE',
]) {
  cpSync(join(root, path), join(dist, path), { recursive: true })
}
const { name, version, license, type, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const engines = { node: '>=24' }
const bin = { moothall: './src/main.js' }
const scripts = { start: 'node src/main.js start' }
const manifest = { name, version, license, type, private: true, engines, bin, scripts, dependencies }
writeFileSync(join(dist, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
process.stdout.write('built dist/: copy it, then `npm install --omit=dev` and `npm start`\n')
