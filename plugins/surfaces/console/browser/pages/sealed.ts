import type { Page } from '../page.ts'

/** The scripts of the client load with this page alone. The document names the hash of each, and the browser checks it. */
const loaded = () => {
  for (const link of document.querySelectorAll<HTMLLinkElement>('link[rel="sealed"]')) link.rel = 'modulepreload'
  return import('../sealed/playground.ts')
}

export const sealed: Page = {
  name: 'sealed',
  title: 'Sealed playground',
  sees: ({ links }) => links['confidential'] !== undefined,
  async show(view) {
    const { playground } = await loaded()
    return playground(view)
  },
}
