import { plugin } from '../../../core/plugin.ts'
import type { AnyRoute } from '../../../core/http/route.ts'
import { Front } from '../../../core/ports/front.ts'
import { describeInterface } from './api-docs.ts'
import { frontOf } from './front.ts'
import { healthRoutes } from './health.ts'
import { notFoundHint } from './not-found-hint.ts'
import { dashboardUrl } from './settings.ts'

/** Surfaces whose callers seal, with the names under which the setting `surfaces` serves them. */
const sealing = ['tools', 'index']

/**
 * The first page, health, and the documentation of all routes. Callers of a gateway that serves tools or the index without
 * `rvenc` find the keys of the enclave at `keys`.
 */
export const describedGateway = (keys: readonly AnyRoute[]) =>
  plugin({
    port: Front,
    name: 'docs',
    sections: [dashboardUrl],
    create: (): Front => ({
      routes: (served) => [
        ...frontOf(served),
        ...healthRoutes,
        ...(!served.names.includes('rvenc') && sealing.some((name) => served.names.includes(name)) ? keys : []),
      ],
      documented: (routes, served, settings) =>
        describeInterface(routes, settings, async (tools) => {
          const { chaptersOf, referenceOf } = await import('./documents.ts')
          return referenceOf(await chaptersOf(served, tools))
        }),
      closed: ['/metrics'],
      lost: notFoundHint,
    }),
  })
