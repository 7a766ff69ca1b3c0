#!/usr/bin/env node
import { existsSync } from 'node:fs'
import { run } from './cli/run.ts'

// Settings may stand in a file where the server is started; what the environment has already goes before it.
if (existsSync('.env')) process.loadEnvFile()

process.exitCode = await run(process.argv.slice(2))
