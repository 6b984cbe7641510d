import { Readable } from 'node:stream'
import type { Scene } from './scene.ts'

const head = [
  '--b\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n',
  '--b\r\ncontent-disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\n',
].join('')

/** Lines that are handed on in one write. */
const atOnce = 1_000

async function* formOf(line: (at: number) => string, count: number): AsyncGenerator<Uint8Array> {
  yield Buffer.from(head)
  for (let at = 0; at < count; at += atOnce)
    yield Buffer.from(Array.from({ length: Math.min(atOnce, count - at) }, (_, more) => line(at + more)).join(''))
  yield Buffer.from('\r\n--b--\r\n')
}

/** Uploads so many lines in one form, and demands this status. */
const uploading = (name: string, count: number, line: (at: number) => string, status: number): Scene => ({
  name,
  async play({ base, key }) {
    let sent = 0
    const form = async function* () {
      for await (const part of formOf(line, count)) {
        sent += part.length
        yield part
      }
    }
    const answer = await fetch(`${base}/v1/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'multipart/form-data; boundary=b' },
      body: Readable.toWeb(Readable.from(form())) as ReadableStream<Uint8Array>,
      duplex: 'half',
    } as RequestInit)
    await answer.text()
    return { sent, figures: [{ name: 'answers of another status', value: answer.status === status ? 0 : 1, most: 0 }] }
  },
})

const asking = (at: number): string =>
  `{"custom_id":"${at}","method":"POST","url":"/v1/embeddings","body":{"model":"embedding","input":"a"}}\n`

export const batches: readonly Scene[] = [
  uploading('a batch of 50,000 lines', 50_000, asking, 200),
  uploading('a batch of a million lines', 1_000_000, asking, 200),
  uploading('a batch of 16 million empty lines', 16_000_000, () => '\n', 400),
]
