// Runs in the browser: shows what a mailed link would do, and does it when somebody says so.
;(() => {
  const words = document.getElementById('words')
  const go = document.getElementById('go')
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  history.replaceState(null, '', location.pathname) // no history and no shared screen keeps it

  const PREVIEW = 'query ($token: String!) { loginTokenPreview(token: $token) { orgName purpose } }'
  const SIGN_IN = `mutation ($input: SessionCreateWithTokenInput!) {
    sessionCreateWithToken(input: $input) { __typename ... on Error { message } } }`

  async function ask(query, variables) {
    const secret = /(?:^|;\s*)moothall_csrf=([^;]*)/.exec(document.cookie)?.[1]
    const response = await fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(secret && { 'x-moothall-csrf': secret }) },
      body: JSON.stringify({ query, variables }),
    })
    const { data, errors } = await response.json()
    if (errors) throw new Error(errors[0].message)
    return data
  }

  async function show() {
    const { loginTokenPreview: preview } = token ? await ask(PREVIEW, { token }) : {}
    if (!preview) {
      words.textContent = 'This link does nothing, or nothing any more. Ask for a new one.'
      return
    }
    const accepts = preview.purpose === 'INVITE'
    words.textContent = accepts ? `You are invited to join ${preview.orgName}.` : `Sign in to ${preview.orgName}.`
    go.textContent = accepts ? 'Join' : 'Sign in'
    go.hidden = false
    go.onclick = () => attempt(signIn)
  }

  async function signIn() {
    go.hidden = true
    const { sessionCreateWithToken: answer } = await ask(SIGN_IN, { input: { token } })
    if (answer.message) throw new Error(answer.message)
    words.textContent = 'You are signed in.'
    const home = await fetch('/', { redirect: 'manual' })
    if (home.type === 'opaqueredirect') location.assign('/')
  }

  async function attempt(step) {
    try {
      await step()
    } catch (error) {
      words.textContent = error instanceof Error ? error.message : 'It failed.'
    }
  }

  void attempt(show)
})()
