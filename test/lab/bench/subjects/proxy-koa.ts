import { createServer } from 'node:http'
import Koa from 'koa'
import { koaBody } from 'koa-body'
import fetch from 'node-fetch'
import { Agent } from 'node:http'
import { answering, lasting } from './answering.ts'

const agent = new Agent({ keepAlive: true })
const koa = new Koa()
koa.use(koaBody())
koa.use(async (ctx) => {
  const answer = await fetch(`${process.env['UPSTREAM']}/v1/chat/completions`, {
    agent,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify((ctx.request as { body?: unknown }).body),
  })
  ctx.status = answer.status
  ctx.type = answer.headers.get('content-type') ?? ''
  ctx.body = answer.body
})
answering(lasting(createServer(koa.callback())))
