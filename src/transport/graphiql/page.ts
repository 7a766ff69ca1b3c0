import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { TABS } from './tabs.ts'

export const GRAPHIQL_ASSETS = '/graphiql/'

/** The page takes nothing from any other place, and speaks to nobody but this server. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self' 'unsafe-inline'", // the editor positions its parts by style attributes
  "font-src 'self' data:",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

type Asset = { type: string; zipped: Buffer }
type Page = { html: string; assets: Map<string, Asset> }

const zip = promisify(gzip)

/** GraphiQL from this process, for browsers that open the endpoint. What it needs is loaded with the first who asks. */
export class Graphiql {
  readonly #endpoint: string
  #page: Promise<Page> | undefined

  constructor(endpoint: string) {
    this.#endpoint = endpoint
  }

  /** Whether the request is a person's who opens the endpoint in a browser. */
  wants({ method, headers }: IncomingMessage): boolean {
    return method === 'GET' && /\btext\/html\b/.test(headers.accept ?? '')
  }

  async answerPage(response: ServerResponse): Promise<void> {
    const { html } = await this.#load()
    response.setHeader('content-security-policy', POLICY)
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html)
  }

  /** False when there is no such file. Names hold a hash of all the contents, so they never change. */
  async answerAsset(path: string, response: ServerResponse): Promise<boolean> {
    const { assets } = await this.#load()
    const asset = assets.get(path)
    if (!asset) return false
    response.setHeader('cache-control', 'public, max-age=31536000, immutable')
    // Workers run under the policy they are served with.
    response.setHeader('content-security-policy', POLICY)
    response.writeHead(200, { 'content-type': asset.type, 'content-encoding': 'gzip' }).end(asset.zipped)
    return true
  }

  #load(): Promise<Page> {
    this.#page ??= load(this.#endpoint)
    this.#page.catch(() => {
      this.#page = undefined
    })
    return this.#page
  }
}

const SCRIPT = 'text/javascript; charset=utf-8'

/** GraphiQL leaves a shift on its tabs that shows once one is pressed: it jumps from under the mouse, unclicked. */
const TABS_STAY = '\n.graphiql-tab { transform: none !important; }\n'

async function load(endpoint: string): Promise<Page> {
  const [{ js, css, graphqlWorker, jsonWorker, editorWorkerService }, boot, render] = await Promise.all([
    import('@graphql-yoga/render-graphiql/graphiql'),
    readFile(join(import.meta.dirname, 'boot.js'), 'utf8'),
    readFile(join(import.meta.dirname, 'render.js'), 'utf8'),
  ])
  const files: [name: string, type: string, text: string][] = [
    ['boot.js', SCRIPT, boot],
    ['graphiql.js', SCRIPT, js],
    ['render.js', SCRIPT, render],
    ['graphiql.css', 'text/css; charset=utf-8', css + TABS_STAY],
    ['graphql-worker.js', SCRIPT, graphqlWorker],
    ['json-worker.js', SCRIPT, jsonWorker],
    ['editor-worker.js', SCRIPT, editorWorkerService],
  ]
  const hash = createHash('sha256')
  for (const [, , text] of files) hash.update(text)
  const base = `${GRAPHIQL_ASSETS}${hash.digest('hex').slice(0, 16)}/`
  const zipped = await Promise.all(
    files.map(async ([name, type, text]) => [base + name, { type, zipped: await zip(text) }] as const),
  )
  return { html: document(base, endpoint), assets: new Map(zipped) }
}

function document(base: string, endpoint: string): string {
  const options = {
    endpoint,
    title: 'Moothall',
    defaultTabs: TABS,
    subscriptionsProtocol: 'SSE',
    shouldPersistHeaders: false, // they hold tokens
  }
  const json = JSON.stringify(options).replaceAll('<', '\\u003c')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Moothall</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}graphiql.css">
</head>
<body class="no-focus-outline">
<noscript>GraphiQL needs JavaScript.</noscript>
<div id="root"></div>
<script type="application/json" id="options">${json}</script>
<script src="${base}boot.js"></script>
<script src="${base}graphiql.js"></script>
<script src="${base}render.js"></script>
</body>
</html>
`
}
