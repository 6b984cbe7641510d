import type { Test } from 'tap'
import { isWhole } from '../whole.ts'
import type { Tab } from './console-stage.ts'

/** Each page at four widths and in both schemes: axe finds nothing, nothing stands out, and a picture is kept. */
export const looks = async (
  t: Test,
  tab: Tab,
  pages: readonly (readonly [hash: string, heading: string, shot: string])[],
): Promise<void> => {
  const { page } = tab
  const width = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  for (const [hash, heading, shot] of pages) {
    await tab.go(hash, heading)
    for (const [size, scheme, rules] of [
      [1440, 'light', undefined],
      [1440, 'dark', isWhole ? undefined : ['color-contrast']],
      // Its colours are those of the wide page; the night looks at all of it.
      [390, 'light', isWhole ? undefined : null],
      [390, 'dark', isWhole ? undefined : ['target-size']],
      [768, 'light', isWhole ? undefined : null],
      [768, 'dark', isWhole ? undefined : null],
      [2560, 'light', isWhole ? undefined : null],
      [2560, 'dark', isWhole ? undefined : null],
    ] as const) {
      await page.setViewportSize({ width: size, height: 900 })
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
      if (rules !== null) t.same(await tab.axe(rules), [], `${shot} ${size} ${scheme}`)
      t.ok((await width()) <= 0, `${shot} ${size} fits`)
      await tab.shot(`${shot}-${size}-${scheme}`)
    }
    if (isWhole || hash === pages[0]?.[0]) {
      await page.setViewportSize({ width: 3840, height: 2160 })
      t.ok((await width()) <= 0, `${shot} fits 4k`)
    }
    await page.setViewportSize({ width: 1440, height: 900 })
  }
}
