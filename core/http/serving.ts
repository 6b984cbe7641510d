import { SpanKind, trace } from '@opentelemetry/api'
import type Koa from 'koa'
import { checked } from '../checked.ts'
import type { Admit } from './access.ts'
import { Asked } from './asked.ts'
import { inputOf } from './body.ts'
import { render } from './render.ts'
import type { AnyRoute } from './route.ts'
import type { Release, slots } from './slots.ts'
import { type Visit, labelOf } from './visit.ts'

interface Gate {
  readonly admit: Admit
  readonly take: ReturnType<typeof slots>
  report(visit: Visit, error: unknown): void
}

/** The way of a request through its route: key, limits, input, answer. `at` is the route's place among all. */
export const serving = ({ admit, take, report }: Gate, route: AnyRoute, at: number) => {
  const tracer = trace.getTracer('sealgate')
  const headers = Object.entries(route.headers ?? {})
  const label = labelOf(route)

  return async (ctx: Koa.Context): Promise<void> => {
    const visit = ctx.state as Visit
    const { settings, pace, count, crowd, given } = visit.era
    const { supplied, most } = given[at]!
    visit.route = route
    for (const [name, value] of headers) visit.headers[name] = value.replace('{id}', visit.about.id)
    const span = tracer.startSpan(label, { kind: SpanKind.SERVER })
    const held: Release[] = []
    try {
      const caller = await admit(ctx.req, route.access)
      if (caller !== null) {
        visit.key = caller.key
        await count(caller, visit.headers)
        await crowd(caller, held)
        if (most !== undefined) held.push(await take(`${route.places!.name}/key/${caller.key}`, most))
      }
      const input = await inputOf(ctx, route.body, settings)
      const query = route.query ? checked(route.query, { ...ctx.query }) : undefined
      const params = (ctx['params'] ?? none) as Readonly<Record<string, string>>
      const request = new Asked(visit.about.id, input, query, params, caller, ctx.req, ctx.res)
      const reply = await route.handle(request, supplied)
      await render(ctx, reply, visit.about, pace, (error) => report(visit, error))
    } finally {
      span.setAttribute('http.response.status_code', ctx.res.statusCode).end()
      for (const release of held.reverse()) release().catch((error) => report(visit, error))
    }
  }
}

const none = {}
