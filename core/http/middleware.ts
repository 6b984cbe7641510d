import type Koa from 'koa'

/**
 * Koa middleware of the embedder, in its order around every route. A sealed body passes it as ciphertext. What it throws is
 * answered in the envelope.
 */
export type Middleware = Koa.Middleware

/** Whether middleware answered by itself, so that no route is needed. */
export const isAnswered = (ctx: Koa.Context): boolean =>
  ctx.respond === false || ctx.headerSent || ctx.status !== 404 || (ctx.body !== undefined && ctx.body !== null)
