import { installed } from './installed.ts'
import { type Subject, start } from './measure.ts'
import { spawned } from './spawned.ts'

/** What a user would pick instead: another gateway, or a proxy that only passes on. */
export interface Peer {
  readonly name: string
  readonly subject: Subject
  readonly headers: Readonly<Record<string, string>>
}

/** Gateways and proxies of npm by their pinned versions; a peer that npm can't install is left out. */
export const startPeers = async (upstream: string): Promise<readonly Peer[]> => {
  const peers = [await portkey(upstream)]
  for (const [name, dependencies] of Object.entries(proxies)) peers.push(await proxy(name, dependencies, upstream))
  return peers.flatMap((peer) => (peer === null ? [] : [peer]))
}

const proxies: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'http-proxy': { 'http-proxy': '1.18.1' },
  fastify: { fastify: '5.12.8', '@fastify/http-proxy': '11.6.3' },
  hono: { hono: '4.13.19', '@hono/node-server': '2.1.8' },
}

const proxy = async (
  name: string,
  dependencies: Readonly<Record<string, string>>,
  upstream: string,
): Promise<Peer | null> => {
  const folder = installed(name, { dependencies })
  if (folder === null) return null
  const subject = await start(`../peers/${name}`, { UPSTREAM: upstream, PACKAGES: folder })
  return { name, subject, headers: {} }
}

const portkey = async (upstream: string): Promise<Peer | null> => {
  const folder = installed('portkey', {
    dependencies: { '@portkey-ai/gateway': '1.15.2' },
    // Freshly resolved versions of these make all its streams fail.
    overrides: { hono: '4.9.7', '@hono/node-server': '1.13.5', '@hono/node-ws': '1.2.0' },
  })
  if (folder === null) return null
  const main = 'node_modules/@portkey-ai/gateway/build/start-server.js'
  const subject = await spawned(folder, (port) => [main, `--port=${port}`, '--headless'], {
    TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost',
  })
  const headers = { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${upstream}/v1` }
  return { name: 'Portkey', subject, headers }
}
