import type { Test } from 'tap'
import { Unavailable } from '../../../core/errors.ts'
import { kind, type MetadataStore, type Query } from '../../../core/ports/metadata-store.ts'
import { failed } from '../../helpers.ts'

/** The work fails as a fault of the infrastructure; its cause is for the log alone. */
export const unavailable = async (t: Test, work: Promise<unknown>, cause?: RegExp): Promise<void> => {
  const fault: unknown = await failed(work)
  if (!(fault instanceof Unavailable)) return void t.fail('is Unavailable', { fault })
  t.equal(fault.message, 'Service temporarily unavailable')
  if (cause) t.match(`${(fault.cause as { code?: string }).code} ${(fault.cause as Error).message}`, cause)
}

export interface Note {
  organization: string
  user: string | null
  created: number
  name: string
}

export const notes = kind<Note>('notes', [['organization', 'user', 'created'], ['name']])
export const counts = kind<Record<string, number | null>>('counts')
export const note = (created: number, name = `note ${created}`): Note => ({
  organization: 'o',
  user: 'u',
  created,
  name,
})

/** The notes of one user, the newest first. */
export const tenant: Query<Note> = {
  where: { organization: 'o', user: 'u' },
  order: { by: 'created', descending: true },
}

/** Texts with characters that a server refuses or takes for its own are kept as ids, names and values. */
export const keepsOddTexts = async (t: Test, store: MetadataStore): Promise<void> => {
  const controls = ['\0', 'a\0b', '\u0001', '\u00010', '\u0001\u0001', '\\\0']
  const texts = [...controls, 'a', '\ud83d', 'x\udc00y', '\\u0000', '\\\\u0001', 'plain', 'd83d']
  for (const [i, text] of texts.entries()) {
    const row = { ...note(i, text), [`k${text}`]: [{ [text]: text }, { [text]: [] }], big: 2 ** 53 }
    t.equal(await store.create(notes, text, row), true)
    t.equal(await store.create(notes, text, row), false)
    t.same(await store.get(notes, text), row, JSON.stringify(text))
    t.same(await store.update(notes, text, { user: text }, { name: text }), { ...row, user: text })
    t.same((await store.list(notes, { where: { name: text } })).rows, [{ id: text, row: { ...row, user: text } }])
  }
  const ids = async (prefix: string) => (await store.list(notes, { prefix })).rows.map(({ id }) => id)
  t.same(await ids('a\0'), ['a\0b'])
  t.same(await ids('\ud83d'), ['\ud83d'])
}

/** A page of the newest of so many notes, with their number, takes little CPU; `before` comes before each reading. */
export const readsPages = async (
  t: Test,
  store: MetadataStore,
  most: number,
  { of = notes, before = async (): Promise<unknown> => null } = {},
): Promise<void> => {
  let least = Infinity
  for (let i = 0; i < 7; i++) {
    await before()
    const start = performance.now()
    const used = process.cpuUsage()
    const { rows, total } = await store.list(of, { ...tenant, limit: 20 })
    const { user, system } = process.cpuUsage(used)
    least = Math.min(least, (user + system) / 1000)
    if (i === 6) t.comment(`${(performance.now() - start).toFixed(1)} ms in all`)
    t.equal(total, most)
    t.same([rows.length, rows[0]?.id, rows[19]?.id], [20, `note_${most - 1}`, `note_${most - 20}`])
  }
  t.comment(`page of 20 with total of ${most}: ${least.toFixed(2)} ms of CPU`)
  t.ok(least < 10, 'under 10 ms')
}

/** No name that a caller chooses becomes a part of a query. */
export const keepsNamesOut = async (t: Test, store: MetadataStore): Promise<void> => {
  const name = `x"') or 1=1 --`
  const odd = { [name]: 1 }
  const indexed = kind<Readonly<Record<string, number>>>('y', [[name]])
  const refused: readonly (() => Promise<unknown>)[] = [
    () => store.list(kind(name), {}),
    () => store.list(counts, { where: odd }),
    () => store.list(counts, { order: { by: name } }),
    () => store.list(counts, { between: { field: name, from: 1 } }),
    () => store.update(counts, 'a', odd),
    () => store.update(counts, 'a', {}, odd),
    () => store.remove(counts, 'a', odd),
    () => store.create(indexed, 'a', { created: 1 }),
  ]
  for (const work of refused) await t.rejects(work(), /name that cannot be stored/)
  t.same(await store.add(counts, 'a', odd), odd, 'no query names what is added')
  const model = { 'gpt-4o.mini:tokens/in': 1 }
  t.same(await store.add(counts, 'm', model), model)
  t.same(await store.update(counts, 'm', {}, model), model)
}
