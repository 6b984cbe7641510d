import * as v from 'valibot'
import { data, text } from '../http/reply.ts'
import { enveloped } from '../http/envelope.ts'
import { pageHeaders } from '../http/page.ts'
import { route } from '../http/route.ts'
import { Lifecycle } from '../lifecycle.ts'
import { Clock } from '../ports/platform.ts'
import { MetadataStore } from '../ports/metadata-store.ts'
import { Settings } from '../settings.ts'
import { frontPage, linksOf } from './front-page.ts'
import { obstacleTo } from './health.ts'

/** A browser names HTML; programs take anything, or JSON. */
const isBrowser = (accept: string | undefined): boolean => accept !== undefined && /\btext\/html\b/.test(accept)

/** The address by which the caller found this gateway; null where its head tells none that can be shown. */
const originOf = (host: string | undefined, proto: unknown): string | null =>
  host !== undefined && /^[\w.-]+(:\d{1,5})?$|^\[[\da-f:.]+\](:\d{1,5})?$/i.test(host)
    ? `${proto === 'https' ? 'https' : 'http'}://${host}`
    : null

/** What people and programs find first. */
export const front = route({
  method: 'GET',
  path: '/',
  summary: 'What this is and where everything is: a page for browsers, JSON for programs.',
  access: 'unasked',
  answer: enveloped(v.object({ name: v.string(), ready: v.boolean(), links: v.record(v.string(), v.string()) })),
  needs: { rows: MetadataStore, lifecycle: Lifecycle, clock: Clock, settings: Settings },
  async handle({ headers, signal }, { settings, ...supplied }) {
    const obstacle = await obstacleTo(supplied, signal)
    if (!isBrowser(headers.accept))
      return data({ name: 'sealgate', ready: obstacle === null, links: linksOf(settings) })
    const page = frontPage(settings, originOf(headers.host, headers['x-forwarded-proto']), obstacle)
    return text(page, 'text/html; charset=utf-8', 200, { ...pageHeaders, vary: 'accept' })
  },
})
