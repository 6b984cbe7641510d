import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import Router from '@koa/router'
import Koa from 'koa'
import { koaBody } from 'koa-body'
import { answering } from './answering.ts'

// What one writes by hand: a router, a body parser, a key looked up by its hash.
const known = new Set([createHash('sha256').update(process.env['KEY']!).digest('hex')])
const koa = new Koa()
const router = new Router()
router.post('/noop', koaBody({ multipart: false, urlencoded: false, text: false }), (ctx) => {
  const key = ctx.get('authorization').slice('Bearer '.length)
  if (!known.has(createHash('sha256').update(key).digest('hex'))) return ctx.throw(401)
  ctx.body = { ok: typeof (ctx.request as { body?: { name?: unknown } }).body?.name === 'string' }
})
koa.use(router.routes())
answering(createServer(koa.callback()))
