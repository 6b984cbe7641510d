import { newKey, openssl, withoutOpenssl } from '../../../fakes/openssl.ts'
import '../../../fakes/unwatched.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:tls'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { folderOf } from '../../../helpers.ts'

/** A backend with a certificate that it signed itself; `heard` is what comes to it in the clear. */
const pretender = async (t: Test) => {
  const folder = await folderOf(t)
  const names = '-subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1'
  openssl(folder, `req -x509 ${newKey} -days 2 ${names} -keyout key.pem -out cert.pem`)
  const [key, cert] = await Promise.all(['key.pem', 'cert.pem'].map((name) => readFile(join(folder, name))))
  const heard: string[] = []
  const server = createServer({ key, cert }, (line) => {
    line.on('error', () => undefined)
    line.on('data', (part) => heard.push(part.toString()))
    line.on('data', () => line.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}'))
  })
  server.on('tlsClientError', () => undefined)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => void server.close())
  return { port: (server.address() as AddressInfo).port, heard }
}

const doors = {
  upstream: `const { openUpstream } = await import(at('network/fetch-upstream.js'))
    const { door, close } = openUpstream()
    const ask = () => door(url, { method: 'POST', headers, body: secret, signal }).finally(close)`,
  outside: `const { openOutside } = await import(at('network/fetch-outside.js'))
    const own = { ports: [+new URL(url).port], bytes: 1e6, time: 5000, allow: ['127.0.0.1', 'localhost'] }
    const ask = () => openOutside(own)(url, { method: 'POST', headers, body: secret, signal })`,
  line: `const { enclaveClient } = await import(at('enclave/enclave-client.js'))
    const certificates = { first: {}, watch() {} }
    const ask = () => enclaveClient(new URL(url).host, certificates).handle('chat', { secret }, {}, signal)`,
  unfenced: `process.removeAllListeners('warning')
    const { request } = await import('node:https')
    const ask = () => new Promise((resolve, reject) =>
      request(url, { method: 'POST', headers }, resolve).on('error', reject).end(secret))`,
}

const script = (door: keyof typeof doors, url: string) => `
  const at = (name) => new URL(name, ${JSON.stringify(pathToFileURL(join(process.cwd(), 'dist/adapters/production/')))})
  const url = ${JSON.stringify(url)}
  const secret = 'plaintext-hunter2'
  const headers = { authorization: 'Bearer sk-hunter2', 'content-type': 'text/plain' }
  const { signal } = new AbortController()
  ${doors[door]}
  const codes = (it) => it ? [it.code, ...codes(it.cause)] : []
  console.log(await ask().then(() => 'answered', (error) => codes(error).filter(Boolean).join()))
  process.exit()`

t.test(
  'a backend without a valid certificate gets no request, in any environment',
  { skip: withoutOpenssl },
  async (t) => {
    const { port, heard } = await pretender(t)
    const told = async (door: keyof typeof doors) => {
      const child = spawn(
        process.execPath,
        ['--input-type=module', '-e', script(door, `https://localhost:${port}/v1`)],
        {
          env: { PATH: process.env['PATH'], NODE_TLS_REJECT_UNAUTHORIZED: '0' },
        },
      )
      let output = ''
      child.stdout.on('data', (part) => (output += part))
      let wrong = ''
      child.stderr.on('data', (part) => (wrong += part))
      await once(child, 'close')
      return output.trim() || wrong
    }
    for (const door of ['upstream', 'outside', 'line'] as const)
      t.match(await told(door), 'DEPTH_ZERO_SELF_SIGNED_CERT', `${door}: the certificate is refused`)
    t.same(heard, [], 'neither a key nor a word')
    t.equal(await told('unfenced'), 'answered', 'which the variable lets through where nothing is said')
    t.match(heard.join(''), /sk-hunter2[^]*plaintext-hunter2/)
  },
)
