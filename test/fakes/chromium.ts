import { access } from 'node:fs/promises'
import { type Browser, chromium } from 'playwright-core'

export const executablePath = '/usr/bin/chromium'

/** Why browser tests are skipped; false where they run. */
export const withoutChromium: string | false = await access(executablePath).then(
  () => false,
  () => 'there is no Chromium',
)

/** A Chromium for pages of ours. */
export const launchChromium = (): Promise<Browser> => chromium.launch({ executablePath, args: ['--no-sandbox'] })
