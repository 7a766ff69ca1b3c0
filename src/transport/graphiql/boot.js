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
    if (secret && !headers.has('authorization')) headers.set('x-moothall-csrf', secret)
    const response = await plainFetch(input, { ...init, headers })
    // Whoever has just signed in or out may see another schema than before.
    if (csrfCookie() !== secret) setTimeout(reloadSchema)
    return response
  }

  function reloadSchema() {
    document.querySelector('button[aria-label="Re-fetch GraphQL schema"]')?.click()
  }
})()
