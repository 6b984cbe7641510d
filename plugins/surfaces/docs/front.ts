import * as v from 'valibot'
import { data, text, enveloped } from '../../../core/http/reply.ts'
import { type AnyRoute, route } from '../../../core/http/route.ts'
import { lazy } from '../../../core/plugin.ts'
import { Lifecycle } from '../../../core/lifecycle.ts'
import { Clock } from '../../../core/ports/platform.ts'
import { MetadataStore } from '../../../core/ports/metadata-store.ts'
import { Settings } from '../../../core/settings.ts'
import { obstacleTo } from './health.ts'
import type { Served } from '../../../core/ports/surface.ts'

const pages = lazy(() => import('./front-page.ts'))
const heads = lazy(() => import('./page.ts'))

/** A browser names HTML; programs take anything, or JSON. */
const isBrowser = (accept: string | undefined): boolean => accept !== undefined && /\btext\/html\b/.test(accept)

/** The address by which the caller found this gateway; null where its head tells none that can be shown. */
const originOf = (host: string | undefined, proto: unknown): string | null =>
  host !== undefined && /^[\w.-]+(:\d{1,5})?$|^\[[\da-f:.]+\](:\d{1,5})?$/i.test(host)
    ? `${proto === 'https' ? 'https' : 'http'}://${host}`
    : null

/** Some clients look for the gateway before they speak to it. */
const greet = route({
  method: 'HEAD',
  path: '/',
  summary: 'Says that the gateway is there.',
  access: 'unasked',
  needs: {},
  handle: () => text('', 'text/plain; charset=utf-8'),
})

/** What people and programs find first. */
const front = (served: Served) =>
  route({
    method: 'GET',
    path: '/',
    summary: 'What this is and where everything is: a page for browsers, JSON for programs.',
    access: 'unasked',
    answer: enveloped(v.object({ name: v.string(), ready: v.boolean(), links: v.record(v.string(), v.string()) })),
    needs: { rows: MetadataStore, lifecycle: Lifecycle, clock: Clock, settings: Settings },
    async handle({ headers, signal }, { settings, ...supplied }) {
      const { frontPage, linksOf } = await pages()
      const obstacle = await obstacleTo(supplied, signal)
      if (!isBrowser(headers.accept))
        return data({ name: 'sealgate', ready: obstacle === null, links: linksOf(served, settings) })
      const page = frontPage(served, settings, originOf(headers.host, headers['x-forwarded-proto']), obstacle)
      const { pageHeaders } = await heads()
      return text(page, 'text/html; charset=utf-8', 200, { ...pageHeaders, vary: 'accept' })
    },
  })

/** Both routes look at no key, so a probe without one learns that a gateway is here. */
export const frontOf = (served: Served): readonly AnyRoute[] => [front(served), greet]
