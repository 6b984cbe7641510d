import { randomBytes } from 'node:crypto'
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import sqlitePlugin from '../../../plugins/storage/sqlite.ts'
import { type FileRow, files as kind } from '../../../plugins/sealed/files/record.ts'
import { uuid7 } from '../../../core/uuid7.ts'
import { clock, log, random } from '../../../adapters/memory/platform.ts'
import { use } from '../../../core/plugin.ts'
import { Clock, Random } from '../../../core/ports/platform.ts'
import { MetadataStore } from '../../../core/ports/metadata-store.ts'
import postgresPlugin from '../../../plugins/storage/postgres.ts'
import { startPostgres } from '../../fakes/postgres.ts'
import { uploadOf } from '../../fakes/uploads.ts'
import { made } from '../../fitted.ts'
import { type Subject, start } from './measure.ts'

const size = 100 * 1024 * 1024
const key = `sk_live_${'F'.repeat(44)}`
const turns = 6

/**
 * Large files through the gateway beside the same bytes straight to the disk and beside a bare receiver, and listings of many.
 * A disk that is quicker than the network leaves the receiver as the bound.
 */
export const files = async (): Promise<readonly string[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-files-'))
  const [subject, receiver] = await Promise.all([
    start('sealgate-files', { FOLDER: folder, KEY: key }),
    start('receiver-bare', { FOLDER: folder }),
  ])
  try {
    const content = randomBytes(size)
    const best = { disk: Infinity, bare: Infinity, form: Infinity, hex: Infinity, down: Infinity }
    const worst = { peak: 0, delay: 0 }
    const timed = async (name: keyof typeof best, work: () => Promise<void>, watched = true) => {
      if (watched) await subject.ask('watch')
      const began = performance.now()
      await work()
      best[name] = Math.min(best[name], performance.now() - began)
      if (!watched) return
      worst.peak = Math.max(worst.peak, await subject.ask('peak'))
      worst.delay = Math.max(worst.delay, await subject.ask('delay'))
    }
    for (let turn = 0; turn < turns; turn++) {
      // Another file each time, else it would be a duplicate.
      content.writeUInt32BE(turn, 0)
      // And none stays: what is written next finds the same free memory.
      await timed('disk', () => straight(join(folder, 'straight'), content), false)
      rmSync(join(folder, 'straight'))
      await timed('bare', async () => void (await form(receiver, content)), false)
      rmSync(join(folder, 'received'))
      let id = ''
      await timed('form', async () => void (id = await form(subject, content)))
      await timed('down', () => download(subject, id))
      await remove(subject, id)
      const digits = Buffer.from(content.toString('hex'), 'latin1')
      await timed('hex', async () => void (id = await hex(subject, content, digits)))
      await remove(subject, id)
    }
    const rate = (name: keyof typeof best) => `${(size / 1048.576 / best[name]).toFixed(0)} MiB/s`
    const ratio = (name: keyof typeof best, of: keyof typeof best = 'disk') => (best[of] / best[name]).toFixed(2)
    return [
      `100 MiB as a form: ${ratio('form')} of the speed of the same bytes with fsync straight to the disk (at least 0.5); ${rate('form')} and ${rate('disk')}`,
      `the same: ${ratio('form', 'bare')} of the speed of a bare receiver (at least 0.8), which has ${ratio('bare')} of the disk's`,
      `100 MiB as hex in JSON: ${ratio('hex')} of it (at least 0.15); ${rate('hex')}`,
      `100 MiB fetched: ${rate('down')}`,
      `peak ${(worst.peak / 1048576).toFixed(0)} MiB above idle (at most 64); the loop stood still ${worst.delay.toFixed(0)} ms at most (at most 50)`,
      ...(await listings(folder)),
    ]
  } finally {
    await Promise.all([subject.stop(), receiver.stop()])
    rmSync(folder, { recursive: true, force: true })
  }
}

const block = 1024 * 1024

function* pieces(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += block) yield bytes.subarray(at, at + block)
}

const straight = (path: string, bytes: Buffer): Promise<void> =>
  pipeline(Readable.from(pieces(bytes), { objectMode: false }), createWriteStream(path, { flush: true }))

const authorization = { authorization: `Bearer ${key}` }

/** Past what the client's own streams cost: the other side is measured. */
const sent = (subject: Subject, type: string, parts: readonly Buffer[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const length = parts.reduce((sum, part) => sum + part.length, 0)
    const headers = { ...authorization, 'content-type': type, 'content-length': length }
    const asked = request(`${subject.base}/files/encrypted/upload`, { method: 'POST', headers }, (answer) => {
      json(answer).then((answer) => {
        const { status, data } = answer as { status: number; data: { id: string } }
        if (status === 200) resolve(data.id)
        else reject(new Error(`upload ${status}`))
      }, reject)
    })
    asked.once('error', reject)
    Readable.from(
      parts.flatMap((part) => [...pieces(part)]),
      { objectMode: false },
    ).pipe(asked)
  })

const form = (subject: Subject, content: Buffer): Promise<string> => {
  const { encrypted_content: _, ...fields } = uploadOf(content.subarray(0, 16))
  const head = Object.entries(fields).map(
    ([name, value]) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const big = '--b\r\ncontent-disposition: form-data; name="encrypted_content"; filename="f"\r\n\r\n'
  return sent(subject, 'multipart/form-data; boundary=b', [
    Buffer.from(head.join('') + big),
    content,
    Buffer.from('\r\n--b--\r\n'),
  ])
}

const hex = (subject: Subject, content: Buffer, digits: Buffer): Promise<string> => {
  const { encrypted_content: _, ...fields } = uploadOf(content.subarray(0, 16))
  const head = `${JSON.stringify(fields).slice(0, -1)},"encrypted_content":"`
  return sent(subject, 'application/json', [Buffer.from(head), digits, Buffer.from('"}')])
}

const remove = async (subject: Subject, id: string): Promise<void> => {
  const answer = await fetch(`${subject.base}/files/encrypted/${id}`, { method: 'DELETE', headers: authorization })
  if (answer.status !== 200) throw new Error(`removal ${answer.status}`)
}

const download = async (subject: Subject, id: string): Promise<void> => {
  const answer = await fetch(`${subject.base}/files/encrypted/${id}/content`, { headers: authorization })
  let seen = 0
  for await (const part of answer.body!) seen += part.length
  if (seen !== size) throw new Error(`${seen} bytes came`)
}

const many = 100_000

/** CPU of a page of a listing among so many, in stores that run in this process or answer to it. */
const listings = async (folder: string): Promise<readonly string[]> => {
  const host = { clock: made(Clock, use(clock)), random: made(Random, use(random)) }
  const server = await startPostgres()
  const stores: Readonly<Record<string, MetadataStore>> = {
    sqlite: made(MetadataStore, use(sqlitePlugin, { file: join(folder, 'many.db') }), use(clock), use(log)),
    ...(server && { postgres: made(MetadataStore, use(postgresPlugin, { url: server.url }), use(clock), use(log)) }),
  }
  const lines: string[] = []
  for (const [name, rows] of Object.entries(stores)) {
    const turns = Array.from({ length: 200 }, (_, turn) => turn)
    for (const turn of turns)
      await Promise.all(
        Array.from({ length: many / turns.length }, (_, at) =>
          rows.create(kind, uuid7(host.clock, host.random), row(turn * 500 + at)),
        ),
      )
    const page = () =>
      rows.list(kind, {
        where: { organization: 'o', user: 'u', listed: true },
        order: { by: 'created_at', descending: true },
        limit: 20,
        countTo: 10_000,
      })
    await page()
    const before = process.cpuUsage()
    for (let at = 0; at < 20; at++) await page()
    const { user, system } = process.cpuUsage(before)
    lines.push(`a page of ${many} records in ${name}: ${((user + system) / 20_000).toFixed(1)} ms of CPU (at most 10)`)
    await rows.dispose?.()
  }
  await server?.close()
  return lines
}

const row = (at: number): FileRow => ({
  organization: 'o',
  user: 'u',
  version: '2',
  kid: 'ab'.repeat(16),
  wrapped_dek: 'ab'.repeat(40),
  original_name: 'ab'.repeat(72),
  mime_type: 'ab'.repeat(168),
  client_hash: at.toString(16).padStart(64, '0'),
  name_tag: null,
  type_hint: 'general',
  file_name: `${at}.enc`,
  file_path: `encrypted/o/u/${at}.enc`,
  file_size: 1000,
  listed: true,
  created_at: 1_700_000_000_000 + at,
  updated_at: null,
  expires_at: null,
  rag_status: 'none',
  rag_until: null,
  rag_path: null,
})
