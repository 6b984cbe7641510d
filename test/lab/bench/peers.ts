import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pythonWith } from '../suites/python.ts'
import { installed } from './installed.ts'
import { type Subject, start } from './measure.ts'
import { spawned } from './spawned.ts'

/** What a user would pick instead: another gateway, or a proxy that only passes on. */
export interface Peer {
  readonly name: string
  readonly subject: Subject
  readonly headers: Readonly<Record<string, string>>
  /** Ms from its start to its first answer. */
  readonly started: number
  /** The part of the requests that a slow peer gets, whose rounds would take minutes; all when absent. */
  readonly share?: number
}

/** How long a start took, with what it gave. */
const timed = async (begin: () => Promise<Subject>): Promise<readonly [Subject, number]> => {
  const began = performance.now()
  return [await begin(), performance.now() - began]
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
  const [subject, started] = await timed(() => start(`../peers/${name}`, { UPSTREAM: upstream, PACKAGES: folder }))
  return { name, subject, headers: {}, started }
}

const portkey = async (upstream: string): Promise<Peer | null> => {
  const folder = installed('portkey', {
    dependencies: { '@portkey-ai/gateway': '1.15.2' },
    // Freshly resolved versions of these make all its streams fail.
    overrides: { hono: '4.9.7', '@hono/node-server': '1.13.5', '@hono/node-ws': '1.2.0' },
  })
  if (folder === null) return null
  const main = 'node_modules/@portkey-ai/gateway/build/start-server.js'
  const env = { TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost' }
  const [subject, started] = await timed(() => spawned(folder, (port) => [main, `--port=${port}`, '--headless'], env))
  const headers = { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${upstream}/v1` }
  return { name: 'Portkey', subject, headers, started }
}

/** LiteLLM's proxy, from Python's registry, which takes minutes the first time; none where pip can't install it. */
export const liteLlm = async (upstream: string): Promise<readonly Peer[]> => {
  const bin = await pythonWith('litellm[proxy]').catch((error: Error) => {
    console.log(`LiteLLM is left out, since pip can't install it: ${error.message}`)
    return null
  })
  if (bin === null) return []
  const folder = mkdtempSync(join(tmpdir(), 'sealgate-litellm-'))
  const params = { model: 'openai/bench', api_base: `${upstream}/v1`, api_key: 'none' }
  const config = { model_list: [{ model_name: 'bench', litellm_params: params }], litellm_settings: { num_retries: 0 } }
  // What is JSON is YAML too.
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify(config))
  const args = (port: number) => ['--config', 'config.yaml', '--host', '127.0.0.1', '--port', String(port)]
  // The proxy refuses to start without a key.
  const key = `sk-${'2'.repeat(64)}`
  const env = { LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_TELEMETRY: 'False', LITELLM_MASTER_KEY: key }
  const [subject, started] = await timed(() => spawned(folder, args, env, join(bin, 'litellm')))
  return [{ name: 'LiteLLM', subject, headers: { authorization: `Bearer ${key}` }, started, share: 0.1 }]
}
