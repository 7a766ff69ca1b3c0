import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { COME_ANONYMOUSLY, JOIN_SPACE, MAKE_SPACE, SIGN_IN, WHERE } from './people-documents.ts'
import { granted, Person, present } from './person.ts'
import { playPoker } from './poker.ts'
import { chapter, say } from './say.ts'
import { holdStandup } from './standup.ts'

// node docs/walkthrough/walkthrough.ts http://localhost:4000 PASSWORD
// A session of planning poker and a scheduled standup, played by a handful of people against a running server.

const USAGE = 'walkthrough.ts SERVER PASSWORD [--email owner@moothall.localhost]'
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { email: { type: 'string', default: 'owner@moothall.localhost' } },
})
const [address, password] = positionals
if (!address || !password) throw new TypeError(USAGE)
const server = address.replace(/\/(graphql)?$/, '')

chapter('Who is there')
const nobody = new Person(server, { id: '', displayName: 'Nobody' })
const input = { email: values.email, password, delivery: 'BEARER' as const }
const signedIn = granted((await nobody.ask(SIGN_IN, { input })).sessionCreateWithPassword)
const owner = new Person(server, present(signedIn.session.user), present(signedIn.token))
const org = present((await owner.ask(WHERE, {})).viewer?.org).slug
say(`${owner.name}, who owns the org "${org}", signs in by password.`)
const slug = `walk-${randomBytes(4).toString('hex')}`
const space = present(granted((await owner.ask(MAKE_SPACE, { input: { slug, name: 'Walkers' } })).spaceCreate).space)
say(`${owner.name} makes the space "${space.name}".`)
const ada = await join('Ada')
const ben = await join('Ben')

const cleo = await join('Cleo')

await playPoker(owner, [ada, ben], space.id, async () => cleo)
await holdStandup({ host: owner, ahead: ben, members: [ada, cleo] }, space.id)
for (const person of [nobody, owner, ada, ben, cleo]) person.leave()

/** Somebody without an account, who becomes a member of the space. */
async function join(displayName: string): Promise<Person> {
  const come = await nobody.ask(COME_ANONYMOUSLY, { input: { orgSlug: org, displayName, delivery: 'BEARER' } })
  const { token, session } = granted(come.sessionCreateAnonymous)
  const person = new Person(server, present(session.user), present(token))
  granted((await person.ask(JOIN_SPACE, { input: { slug } })).spaceJoin)
  say(`${displayName} comes without an account and joins it.`)
  return person
}
