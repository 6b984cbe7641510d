import { opensHttp } from '../listening.ts'
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Test } from 'tap'
import { curveSigner, makeCertificate, pemOf } from './certificates.ts'
import { type SnpOptions, makeSnp } from './snp.ts'

const day = 86_400_000
/** Ms: all documents of a test come from one root, which is of this time. */
export const madeAt = Date.now()

/** A TLS key with a certificate that nobody but itself vouches for. */
export const tlsIdentity = () => {
  const key = curveSigner('p256')
  const dates = { notBefore: Date.now() - day, notAfter: Date.now() + day }
  const parts = { issuer: 'confidential', subject: 'confidential', ...dates, key, by: key, extensions: [] }
  const cert = pemOf(makeCertificate({ ...parts, extensions: [] }))
  return { info: key.info, key: key.secret.export({ type: 'pkcs8', format: 'pem' }) as string, cert }
}

/** The keying material of the connection on which a backend was asked. */
export const exporterOf = ({ req }: ServerResponse, nonce: string): Buffer =>
  (req.socket as TLSSocket).exportKeyingMaterial(32, 'EXPORTER-sealgate-backend-evidence', Buffer.from(nonce, 'hex'))

/** The report data that the documentation of `attested-tls` asks for; of version 1 without a connection. */
export const boundTo = (info: Uint8Array, nonce: string, exporter: Buffer | null): Uint8Array => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(info.length)
  const hash = createHash('sha256').update(`sealgate-backend-tls/${exporter === null ? 1 : 2}\0`)
  hash.update(length).update(info).update(Buffer.alloc(32))
  if (exporter !== null) hash.update(exporter)
  return new Uint8Array(Buffer.concat([hash.digest(), Buffer.from(nonce, 'hex')]))
}

/** The document of a machine of the test platform over this key, this nonce and this connection. */
export const documentOver = (
  info: Uint8Array,
  nonce: string,
  exporter: Buffer | null,
  change: Partial<SnpOptions> = {},
): string => {
  const { evidence } = makeSnp({ now: madeAt, reportData: boundTo(info, nonce, exporter), ...change })
  return JSON.stringify(exporter === null ? { evidence } : { version: 2, evidence })
}

/** Answers the question for evidence. */
export type Attest = (nonce: string, response: ServerResponse, info: Uint8Array) => unknown

export const honest: Attest = (nonce, response, info) =>
  response.end(documentOver(info, nonce, exporterOf(response, nonce)))

/** Version 1: a document of the key alone. */
export const keyAlone: Attest = (nonce, response, info) => response.end(documentOver(info, nonce, null))

const part = (delta: object, finish: string | null) =>
  `data: ${JSON.stringify({ id: 'one', object: 'chat.completion.chunk', created: 1, model: 'quiet', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

const answer = JSON.stringify({
  ...{ id: 'one', object: 'chat.completion', created: 1, model: 'quiet' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'It stands.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
})

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let body = ''
  for await (const piece of request) body += String(piece)
  return body
}

/** A backend on the loopback over TLS, which speaks the common chat format and gives the evidence that a test wants. */
export const confidentialBackend = async (t: Test, attest: Attest = honest, own = tlsIdentity()) => {
  const state = { attest, info: own.info, streams: Promise.resolve() as Promise<unknown> }
  const asked: string[] = []
  const documents: string[] = []
  const prompts: string[] = []
  const sockets = new Set<Socket>()
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url!, 'https://backend')
    if (url.pathname === '/.well-known/sealgate-evidence') {
      asked.push(url.searchParams.get('nonce')!)
      const end = response.end.bind(response)
      response.end = ((text: string) => (documents.push(text), end(text))) as typeof response.end
      return state.attest(url.searchParams.get('nonce')!, response, state.info)
    }
    const body = await bodyOf(request)
    prompts.push(`${url.pathname} ${body}`)
    if (url.pathname === '/v1/audio/transcriptions') return response.end('{"text":"Mended in March.","duration":2}')
    if (!body.includes('"stream":true')) return response.end(answer)
    response.write(part({ role: 'assistant', content: 'It ' }, null))
    await state.streams
    return response.end(`${part({ content: 'stands.' }, null)}${part({}, 'stop')}data: [DONE]\n\n`)
  }
  const server = createServer(own, (request, response) => void serve(request, response))
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => {}))
    socket.once('close', () => sockets.delete(socket))
  })
  const address = await opensHttp(t, server)
  return {
    base: address.replace('http:', 'https:'),
    /** Nonces of the questions for evidence, and what was answered. */
    asked,
    documents,
    /** All other requests, with their bodies. */
    prompts,
    state,
    info: own.info,
    own,
    /** Takes this key for new connections, and cuts the old ones. */
    turn(to: ReturnType<typeof tlsIdentity>) {
      server.setSecureContext(to)
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** The settings of an upstream that demands evidence of the backend at this address. */
export const demandingProvider = (base: string, settings: object = {}) => ({
  use: 'openai',
  baseUrl: `${base}/v1`,
  evidence: { kind: 'attested-tls', policy: { measurements: ['ab'.repeat(48)] }, certificate: 'any', ...settings },
})
