// Runs in the browser, before GraphiQL: its workers come from this server, and its requests carry what a signed-in
// browser must prove.
;(() => {
  const base = document.currentScript.src.replace(/[^/]*$/, '')
  const workers = { graphql: 'graphql-worker.js', json: 'json-worker.js' }
  self.MonacoEnvironment = {
    globalAPI: false,
    getWorkerUrl: (_module, label) => base + (workers[label] ?? 'editor-worker.js'),
  }

  const csrfCookie = () => /(?:^|;\s*)moothall_csrf=([^;]*)/.exec(document.cookie)?.[1]
  const plainFetch = self.fetch.bind(self)

  /** With a session cookie, echoes the other one; an Authorization header wins and needs no such proof. */
  self.fetch = async (input, init = {}) => {
    const headers = new Headers(init.headers ?? (input instanceof Request ? input.headers : undefined))
    const secret = csrfCookie()
    const signedIn = secret !== undefined || headers.has('authorization')
    if (!signedIn && asksForSchema(init.body)) return Response.json(SIGN_IN_FIRST)
    if (secret && !headers.has('authorization')) headers.set('x-moothall-csrf', secret)
    const response = await plainFetch(input, { ...init, headers })
    // Whoever has just signed in or out may see another schema; first the answer itself is to be shown.
    if (csrfCookie() !== secret) setTimeout(reloadSchema, 500)
    return response
  }

  const SIGN_IN_FIRST = {
    errors: [{ message: 'Sign in by the first tab: then the schema is shown here and completed as you type.' }],
  }
  const asksForSchema = (body) => typeof body === 'string' && body.includes('__schema')

  function reloadSchema() {
    document.querySelector('button[aria-label^="Re-fetch GraphQL schema"]')?.click()
  }
})()
