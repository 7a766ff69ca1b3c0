import { existsSync } from 'node:fs'
import { env } from 'node:process'
import { type Browser, chromium } from 'playwright-core'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Where this machine has a Chromium: CHROMIUM_PATH says so, else the places of distributions. */
const CHROMIUM = env['CHROMIUM_PATH'] || PLACES.find((path) => existsSync(path))

/** Why tests that need a browser are skipped; undefined where they run. */
export const NO_CHROMIUM = CHROMIUM ? undefined : 'no Chromium here: set CHROMIUM_PATH'

/** A headless Chromium of the test's own, which the test closes. */
export function launchChromium(): Promise<Browser> {
  if (!CHROMIUM) throw new Error(NO_CHROMIUM)
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] }) // root has no sandbox
}
