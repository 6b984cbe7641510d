// Asks the confidential process of this machine for its public keys, over its own line; ends with 0 when it gives them.
import { readFileSync } from 'node:fs'
import { request } from 'node:https'

// The image has the reader of the gateway beside this file, and a clone at its root: a configuration may have comments.
const reader = 'dist/adapters/production/config/jsonc.js'
const { parseJsonc } = await import(`./${reader}`).catch(() => import(`../../${reader}`))
const { listen, tls } = parseJsonc(readFileSync(process.env.SEALGATE_CONFIG, 'utf8')).value.enclave
const [ca, cert, key] = [tls.ca, tls.cert, tls.key].map((file) => readFileSync(file))
const port = listen.slice(listen.lastIndexOf(':') + 1)
request({ host: '127.0.0.1', port, path: '/keys', ca, cert, key, signal: AbortSignal.timeout(4_000) })
  .on('response', ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1))
  .on('error', () => process.exit(1))
  .end()
