/** A first round, one step a tab, in the order they are run. Ids are filled in from the answers before. */
export type Tab = { query: string; variables?: string; headers?: string }

const json = (value: object) => JSON.stringify(value, null, 2)

/** The second person's requests: this header wins over the browser's cookie. */
const SECOND_PERSON = json({ Authorization: 'Bearer PASTE_THE_TOKEN_OF_THE_ANONYMOUS_PERSON' })

export const TABS: readonly Tab[] = [
  {
    query: `# 1. Sign in. Email and password were printed when the server first started.
# The browser keeps the session as a cookie, for all tabs without an Authorization header.
mutation SignIn($input: SessionCreateWithPasswordInput!) {
  sessionCreateWithPassword(input: $input) {
    __typename
    ... on SessionCreatePayload {
      session { id expiresAt }
    }
    ... on Error { code message }
  }
}`,
    variables: json({
      input: { email: 'owner@moothall.localhost', password: 'PASTE_THE_PASSWORD', delivery: 'COOKIE' },
    }),
  },
]
