import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'

const PATH = '/sign-in'
const SCRIPT_PATH = '/sign-in/page.js'

const STYLE = 'body{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:4rem auto;padding:0 1rem}'

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<noscript>This page needs JavaScript; the code in the mail works without it.</noscript>
<p id="words" role="status"></p>
<p><button id="go" type="button" hidden>Sign in</button></p>
<script src="${SCRIPT_PATH}"></script>
</body>
</html>
`

let script: Promise<string> | undefined

/**
 * Where mailed links lead when no frontend has a page for them. The token stands in the fragment, which no server sees:
 * opening the page spends nothing, its button does (ID-25). False: it is no path of these.
 */
export async function answerSignInPage(path: string, response: ServerResponse): Promise<boolean> {
  if (path !== PATH && path !== SCRIPT_PATH) return false
  response.setHeader('content-security-policy', POLICY)
  if (path === PATH) {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(PAGE)
    return true
  }
  script ??= readFile(join(import.meta.dirname, 'page.js'), 'utf8')
  response.writeHead(200, { 'content-type': 'text/javascript; charset=utf-8' }).end(await script)
  return true
}
