import { access } from 'node:fs/promises'
import { type Browser, chromium } from 'playwright-core'

export const executablePath = '/usr/bin/chromium'

/** Why browser tests are skipped; false where they run. */
export const withoutChromium: string | false = await access(executablePath).then(
  () => false,
  () => 'there is no Chromium',
)

/** The software that stands in for a graphics processor takes more CPU than the pages of the tests. */
const args = ['--no-sandbox', '--disable-gpu']

/** A Chromium for pages of ours. */
export const launchChromium = (): Promise<Browser> => chromium.launch({ executablePath, args })
