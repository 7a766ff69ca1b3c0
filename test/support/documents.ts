import { graphql } from '../generated/gql.ts'

/** Documents that several tests send; `npm run codegen` gives them the types of their variables and answers. */
export const SIGN_IN = graphql(`
  mutation SignInByPassword($input: SessionCreateWithPasswordInput!) {
    sessionCreateWithPassword(input: $input) {
      __typename
      ... on SessionCreateWithPasswordPayload {
        token
        csrfToken
        session { id user { id email } }
      }
      ... on Error { code message }
    }
  }
`)

export const SIGN_IN_ANONYMOUSLY = graphql(`
  mutation SignInAsAnonymous($input: SessionCreateAnonymousInput!) {
    sessionCreateAnonymous(input: $input) {
      __typename
      ... on SessionCreateAnonymousPayload { token session { user { id displayName } } }
      ... on Error { code message }
    }
  }
`)
