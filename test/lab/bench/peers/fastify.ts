import type { Server } from 'node:http'
import { answering } from '../subjects/answering.ts'
import { packaged } from './packages.ts'

interface Fastify {
  readonly server: Server
  register(plugin: unknown, options: object): void
  ready(): PromiseLike<unknown>
}

const fastify = packaged<{ fastify(): Fastify }>('fastify').fastify()
fastify.register(packaged('@fastify/http-proxy'), { upstream: process.env['UPSTREAM'], prefix: '/' })
await fastify.ready()
answering(fastify.server)
