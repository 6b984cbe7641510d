import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { GatewayError, Unreadable } from '../../core/errors.ts'
import type { FileToRead, Reader } from '../../core/ports/reader.ts'
import { type Contract, proof } from './contract.ts'

/** A reader with a file that it reads, a file of its format that is broken, and a file of another format. */
export interface TriedReader {
  readonly reader: Reader
  readonly good: { readonly file: FileToRead; readonly says: string }
  readonly broken: FileToRead
  readonly foreign: FileToRead
}

const soon = () => AbortSignal.timeout(60_000)

const lengthOf = (texts: readonly { readonly text: string }[]): number =>
  texts.reduce((sum, { text }) => sum + text.length, 0)

const contract = {
  'has a name and a kind': async (fresh) => {
    const { reader } = await fresh()
    ok(/^[a-z][A-Za-z0-9-]{0,63}$/.test(reader.name))
    ok(['document', 'slides', 'spreadsheet', 'data', 'pdf', 'image'].includes(reader.kind))
  },
  'fits the files of its formats and no others': async (fresh) => {
    const { reader, good, foreign } = await fresh()
    equal(reader.fits(good.file), true)
    equal(reader.fits(foreign), false)
  },
  'gives the text in sections, each with its place': async (fresh) => {
    const { reader, good } = await fresh()
    const { sections } = await reader.read(good.file, soon())
    ok(sections.some(({ text }) => text.includes(good.says)))
    for (const { heading, page } of sections) {
      ok(heading === null || typeof heading === 'string')
      ok(page === null || (Number.isInteger(page) && page > 0))
    }
  },
  'gives plain JSON': async (fresh) => {
    const { reader, good } = await fresh()
    const read = await reader.read(good.file, soon())
    deepEqual(JSON.parse(JSON.stringify(read)), read)
  },
  'reads as often as it is asked, and leaves the bytes as they are': async (fresh) => {
    const { reader, good } = await fresh()
    const copy = good.file.bytes.slice()
    const first = await reader.read(good.file, soon())
    ok(Buffer.from(copy).equals(good.file.bytes))
    deepEqual(await reader.read(good.file, soon()), first)
  },
  'keeps to the characters that it is allowed, and reports the cut': async (fresh) => {
    const { reader, good } = await fresh()
    const whole = await reader.read(good.file, soon())
    const cut = await reader.read(good.file, soon(), { characters: 10, values: 2 })
    ok(lengthOf(cut.sections) < lengthOf(whole.sections))
    equal(cut.content.truncated, true)
  },
  'refuses a broken file in words of its own': async (fresh) => {
    const { reader, broken } = await fresh()
    await rejects(reader.read(broken, soon()), (error: unknown) => {
      ok(error instanceof Unreadable)
      ok(!JSON.stringify([error.message, error.validator]).includes(broken.name))
      return true
    })
  },
  'stops at once when the signal was aborted before': async (fresh) => {
    const { reader, good } = await fresh()
    const reason = new Error('stopped')
    await rejects(reader.read(good.file, AbortSignal.abort(reason)), (error) => error === reason)
  },
} satisfies Contract<TriedReader>

const plain = (text: string): FileToRead => ({ name: 'secret.notes', mime: '', bytes: Buffer.from(text) })

const notes: Reader<'document'> = {
  name: 'notes',
  kind: 'document',
  fits: ({ name }) => name.endsWith('.notes'),
  async read({ bytes }, signal, { characters = 1_000 } = {}) {
    signal.throwIfAborted()
    if (bytes.includes(0)) throw new Unreadable()
    const all = Buffer.from(bytes).toString()
    const sections = [{ heading: null, text: all.slice(0, characters) }]
    const content = { format: 'notes', title: null, sections, truncated: all.length > characters }
    return { content, sections: [{ heading: null, text: all.slice(0, characters), page: null }] }
  },
}

const right = (): TriedReader => ({
  reader: notes,
  good: { file: plain('the ferry leaves at noon'), says: 'ferry' },
  broken: plain('\0'),
  foreign: { ...plain('GIF'), name: 'picture.gif' },
})
const with_ = (change: Partial<Reader<'document'>>) => () => ({ reader: { ...notes, ...change } })
const readAs = (change: (result: Awaited<ReturnType<typeof notes.read>>) => unknown) =>
  with_({ read: async (...asked) => change(await notes.read(...asked)) as never })

export const reader = proof<TriedReader, typeof contract>({
  contract,
  right,
  wrong: {
    'has a name and a kind': with_({ name: '' }),
    'fits the files of its formats and no others': with_({ fits: () => true }),
    'gives the text in sections, each with its place': readAs((result) => ({ ...result, sections: [] })),
    'gives plain JSON': readAs((result) => ({ ...result, at: new Date() })),
    'reads as often as it is asked, and leaves the bytes as they are': with_({
      read: async (file, ...rest) => {
        const read = await notes.read(file, ...rest)
        file.bytes.fill(32)
        return read
      },
    }),
    'keeps to the characters that it is allowed, and reports the cut': with_({
      read: (file, signal) => notes.read(file, signal),
    }),
    'refuses a broken file in words of its own': with_({
      read: async (file, signal) => {
        signal.throwIfAborted()
        if (file.bytes.includes(0)) throw new GatewayError(`${file.name} is broken`)
        return notes.read(file, signal)
      },
    }),
    'stops at once when the signal was aborted before': with_({
      read: (file, _signal, limits) => notes.read(file, soon(), limits),
    }),
  },
})
