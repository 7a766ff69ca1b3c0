import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { rolesSql } from '../../src/db/roles.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/database.ts'

const ATTRIBUTES = `SELECT rolname, rolcanlogin, rolsuper, rolbypassrls, rolcreatedb, rolcreaterole, rolreplication
                      FROM pg_roles WHERE rolname IN ('moothall_owner', 'moothall_app') ORDER BY rolname`
const WEAK = {
  rolcanlogin: true,
  rolsuper: false,
  rolbypassrls: false,
  rolcreatedb: false,
  rolcreaterole: false,
  rolreplication: false,
}
const PASSWORDS = { ownerPassword: 'owner-secret', appPassword: 'app-secret' }

let database: TestDatabase
let superuser: pg.Client

beforeAll(async () => {
  database = await createEmptyDatabase()
  superuser = new pg.Client({ connectionString: database.superuserUrl })
  await superuser.connect()
})

afterAll(async () => {
  await superuser.end()
  await database.drop()
})

it('PLAT-57 makes two roles without any power of their own', async () => {
  expect((await superuser.query(ATTRIBUTES)).rows).toEqual([
    { rolname: 'moothall_app', ...WEAK },
    { rolname: 'moothall_owner', ...WEAK },
  ])
})

it('PLAT-57 takes back what a role was given since', async () => {
  // Rolled back: roles belong to the whole cluster.
  await superuser.query('BEGIN; ALTER ROLE moothall_app SUPERUSER CREATEDB BYPASSRLS NOLOGIN')
  try {
    await superuser.query(rolesSql(PASSWORDS))
    expect((await superuser.query(ATTRIBUTES)).rows[0]).toEqual({ rolname: 'moothall_app', ...WEAK })
  } finally {
    await superuser.query('ROLLBACK')
  }
})

it('PLAT-57 writes passwords as verifiers that PostgreSQL would have made itself', async () => {
  const sql = rolesSql(PASSWORDS)
  expect(sql).not.toMatch(/secret/)
  const verifiers = [
    ...sql.matchAll(/CREATE ROLE .* PASSWORD '(SCRAM-SHA-256\$4096:[\w+/=]{24}\$[\w+/=]{44}:[\w+/=]{44})'/g),
  ]
  expect(verifiers).toHaveLength(2)
})

it('PLAT-57 lets an administrator who is no superuser make roles and hand over a database', async () => {
  await superuser.query('BEGIN; CREATE ROLE some_admin CREATEROLE CREATEDB; SET LOCAL ROLE some_admin')
  try {
    await superuser.query(rolesSql(PASSWORDS).replaceAll('moothall_', 'elsewhere_'))
    const { rows } = await superuser.query(`SELECT pg_has_role('elsewhere_owner', 'SET') AS member`)
    expect(rows).toEqual([{ member: true }])
  } finally {
    await superuser.query('ROLLBACK')
  }
})

it('PLAT-57 gives the database to the owner and lets the application do no more than connect', async () => {
  const { rows } = await superuser.query(
    `SELECT datdba::regrole::text AS owner, pg_encoding_to_char(encoding) AS encoding, datcollate, datctype
       FROM pg_database WHERE datname = current_database()`,
  )
  expect(rows).toEqual([{ owner: 'moothall_owner', encoding: 'UTF8', datcollate: 'C.UTF-8', datctype: 'C.UTF-8' }])

  const app = new pg.Client({ connectionString: database.appUrl })
  await app.connect()
  try {
    for (const attempt of [
      'CREATE SCHEMA mine',
      'CREATE TABLE public.mine (id int)',
      'CREATE TEMP TABLE mine (id int)',
      'CREATE DATABASE mine',
      'CREATE ROLE mine',
      'SET ROLE moothall_owner',
    ]) {
      await expect(app.query(attempt), attempt).rejects.toMatchObject({ code: '42501' })
    }
  } finally {
    await app.end()
  }
})

it('PLAT-57 shuts the database to every other role', async () => {
  const role = `stranger_${database.name}`
  await superuser.query(`CREATE ROLE ${role} LOGIN PASSWORD 'x'`)
  try {
    const url = new URL(database.appUrl)
    Object.assign(url, { username: role, password: 'x' })
    await expect(new pg.Client({ connectionString: url.href }).connect()).rejects.toMatchObject({ code: '42501' })
  } finally {
    await superuser.query(`DROP ROLE ${role}`)
  }
})
