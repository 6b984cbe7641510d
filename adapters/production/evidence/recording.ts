import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readHex } from '../../../plugins/sealed/wire/bytes.ts'
import type { GpuStatement } from '../../../plugins/sealed/evidence/services/nvidia.ts'
import type { Source } from './sources.ts'

/** An answer as a recorder of exchanges keeps it: facts in `NAME.json`, the body in `NAME.body`. */
interface Answer {
  readonly url: string
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>
  readonly peerKey: string | null
  body(): Promise<Buffer>
}

/** A recorded conversation with a service, its processors' makers and NVIDIA. */
export interface Recording {
  /** The service's own document. */
  readonly document: string
  /** The nonce that the recorder chose; null when the recording names none. */
  readonly nonce: Uint8Array | null
  /** SHA-256 of the TLS key from which the document came; null when the recording has none. */
  readonly tlsKey: Uint8Array | null
  /** In ms; null when the recording names no time. */
  readonly at: number | null
  readonly gpu: GpuStatement | null
  readonly source: Source
}

const jsonOf = async (file: string): Promise<Readonly<Record<string, unknown>>> =>
  JSON.parse(await readFile(file, 'utf8')) as Readonly<Record<string, unknown>>

const answersIn = async (folder: string): Promise<readonly Answer[]> => {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json') && !name.endsWith('.body'))
  return Promise.all(
    names.sort().map(async (name) => {
      const { url, headers, peer_spki_der_base64: key } = await jsonOf(join(folder, name))
      return {
        url: String(url),
        headers: (headers ?? {}) as Answer['headers'],
        peerKey: typeof key === 'string' ? key : null,
        body: () => readFile(join(folder, name.replace(/\.json$/, '.body'))),
      }
    }),
  )
}

/** Paths of the documents that services answer with. */
const documentPaths = ['/.well-known/tinfoil-attestation', '/v1/attestation/report']
const gpuPaths = { tokens: '/v3/attest/gpu', keys: '/.well-known/jwks.json' }

/** An address without the wish for early data, which changes nothing of what the answer is about. */
const plain = (url: string): string => url.replace(/[?&]update=early$/, '').replace(/=0(?=\d)/g, '=')

const headerOf = ({ headers }: Answer, name: string): string => {
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)
  return decodeURIComponent(found?.[1]?.[0] ?? '')
}

/** The manifest may leave a fact out, which is null. An unreadable fact throws: without it less of the recording is checked. */
const factOf = <T>(file: string, name: string, value: unknown, read: (text: string) => T | null): T | null => {
  if (value === undefined || value === null) return null
  const fact = typeof value === 'string' ? read(value) : null
  if (fact === null) throw new Error(`${file}: ${name} cannot be read`)
  return fact
}

const timeIn = (text: string): number | null => {
  const time = Date.parse(text)
  return Number.isNaN(time) ? null : time
}

/** Reads a recording's folder: `manifest.json`, and an answer for each request in `responses`. */
export const readRecording = async (folder: string): Promise<Recording> => {
  const manifest = join(folder, 'manifest.json')
  const { nonce_hex: nonce, captured_at: captured } = await jsonOf(manifest)
  const answers = await answersIn(join(folder, 'responses'))
  const at = (path: string) => answers.find(({ url }) => new URL(url).pathname === path)
  const document = documentPaths.map(at).find((answer) => answer !== undefined)
  if (document === undefined) throw new Error('The recording holds no document of a service')
  const [tokens, keys] = [at(gpuPaths.tokens), at(gpuPaths.keys)]
  const { peerKey } = document
  return {
    document: (await document.body()).toString('utf8'),
    nonce: factOf(manifest, 'nonce_hex', nonce, (text) => readHex(text, 32)),
    tlsKey: peerKey === null ? null : createHash('sha256').update(Buffer.from(peerKey, 'base64')).digest(),
    at: factOf(manifest, 'captured_at', captured, timeIn),
    gpu: tokens && keys ? { tokens: String(await tokens.body()), keys: String(await keys.body()) } : null,
    async source({ url, header }) {
      const answer = answers.find((answer) => url !== null && plain(answer.url) === plain(url))
      if (answer === undefined) throw new Error('The recording holds no such piece')
      return { body: await answer.body(), chain: header === undefined ? '' : headerOf(answer, header) }
    },
  }
}
