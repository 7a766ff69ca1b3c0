// Which way imports may go: transport → schema → bodies → (live, queue, db, the GraphQL kit) → lib. Type-only imports count.
// TypeScript 7 has no API that dependency-cruiser could use, so swc parses; without it no module would be seen at all.

const BODIES = ['platform', 'identity', 'work', 'rooms', 'gate', 'plugins']

/** What each body may call, besides itself; never one above it. */
const MAY_CALL = {
  platform: [],
  identity: ['platform'],
  work: ['platform', 'identity'],
  rooms: ['platform', 'identity', 'work'],
  gate: ['platform', 'identity', 'work'],
  plugins: ['platform', 'identity', 'work', 'rooms', 'gate'],
}

const folder = (...names) => `^src/(${names.join('|')})/`
const TOP = '^src/(main|server|schema|secrets)\\.ts$'

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Two modules that need each other are one module, or hide a third. Types may refer to each other.',
      severity: 'error',
      from: { path: '^src/' },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'lib-is-alone',
      comment: 'lib holds pure helpers; it knows nothing of the product.',
      severity: 'error',
      from: { path: folder('lib') },
      to: { path: '^src/', pathNot: folder('lib') },
    },
    {
      name: 'config-is-alone',
      severity: 'error',
      from: { path: '^src/config\\.ts$' },
      to: { path: '^src/' },
    },
    {
      name: 'log-knows-config-and-lib',
      severity: 'error',
      from: { path: '^src/log\\.ts$' },
      to: { path: '^src/', pathNot: ['^src/config\\.ts$', folder('lib')] },
    },
    {
      name: 'db-is-below',
      severity: 'error',
      from: { path: folder('db') },
      to: { path: '^src/', pathNot: ['^src/config\\.ts$', folder('db', 'lib', 'generated')] },
    },
    {
      name: 'kit-stands-on-db',
      severity: 'error',
      from: { path: folder('graphql') },
      to: { path: '^src/', pathNot: ['^src/config\\.ts$', folder('graphql', 'db', 'lib', 'generated')] },
    },
    {
      name: 'live-and-queue-are-below-bodies',
      severity: 'error',
      from: { path: folder('live', 'queue') },
      to: { path: '^src/', pathNot: ['^src/config\\.ts$', folder('live', 'queue', 'graphql', 'db', 'lib', 'generated')] },
    },
    {
      name: 'bodies-are-below-transport',
      severity: 'error',
      from: { path: folder(...BODIES) },
      to: { path: [folder('transport', 'cli'), TOP] },
    },
    ...BODIES.map((body) => ({
      name: `${body}-calls-down`,
      comment: 'The other direction is audit events, or a hook that the upper body registers at start.',
      severity: 'error',
      from: { path: folder(body) },
      to: { path: folder(...BODIES), pathNot: folder(body, ...MAY_CALL[body]) },
    })),
    {
      name: 'bodies-have-one-face',
      comment: 'Another body, the transport and the command line use a body through its index.ts.',
      severity: 'error',
      from: { path: `^src/(${BODIES.join('|')})/` },
      to: { path: folder(...BODIES), pathNot: [`^src/$1/`, '^src/[^/]+/index\\.ts$'] },
    },
    {
      name: 'bodies-have-one-face-upwards',
      severity: 'error',
      from: { path: '^src/', pathNot: folder(...BODIES) },
      to: { path: folder(...BODIES), pathNot: '^src/[^/]+/index\\.ts$' },
    },
    {
      name: 'transport-is-below-the-server',
      severity: 'error',
      from: { path: folder('transport') },
      to: { path: [folder('cli'), '^src/(main|server)\\.ts$'] },
    },
    {
      name: 'schema-only-composes',
      severity: 'error',
      from: { path: '^src/schema\\.ts$' },
      to: { path: '^src/', pathNot: [folder('graphql'), '^src/[^/]+/index\\.ts$'] },
    },
    {
      name: 'nothing-calls-main',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^src/main\\.ts$' },
    },
    {
      name: 'product-without-tests',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|tools)/' },
    },
    {
      name: 'product-without-dev-dependencies',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: ['node_modules', '^src/generated/'] },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.mjs', '.cjs'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
}
