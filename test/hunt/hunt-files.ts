import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pLimit from 'p-limit'
import type { Test } from 'tap'
import { checkedConfig } from '../../adapters/production/config/config.ts'
import { production } from '../../adapters/production/index.ts'
import { connect, newKek } from '../../core/sealed/client/client.ts'
import { Unreadable } from '../../core/errors.ts'
import { running, unhurried } from '../environments.ts'
import { chance } from './damage.ts'
import { type Kind, kinds } from './file-kinds.ts'

/** What became of the files of one kind. */
export interface Found {
  readonly kind: string
  readonly read: number
  readonly refused: number
  /** The seeds of files that did neither, with what happened. */
  readonly wrong: readonly string[]
  /** Ms of the slowest. */
  readonly slowest: number
}

/** Ms that one file may take: two jobs of the longest, and a machine that does other work. */
const patience = 45_000

type Try = (kind: Kind, bytes: Uint8Array) => Promise<'read' | 'refused' | string>

const directly: Try = (kind, bytes) =>
  kind.read(bytes, AbortSignal.timeout(patience)).then(
    () => 'read',
    (error: unknown) => (error instanceof Unreadable ? 'refused' : `${String((error as Error).name)}`),
  )

const hunted = async (kind: Kind, seeds: readonly number[], attempt: Try, atOnce: number): Promise<Found> => {
  const turn = pLimit(atOnce)
  const found = { read: 0, refused: 0, slowest: 0 }
  const wrong: string[] = []
  const one = async (seed: number) => {
    const bytes = await kind.make(chance(seed))
    const began = performance.now()
    const end = await attempt(kind, bytes)
    const took = performance.now() - began
    found.slowest = Math.max(found.slowest, Math.round(took))
    if (end !== 'read' && end !== 'refused') wrong.push(`${seed}: ${end}`)
    else if (took > patience) wrong.push(`${seed}: ${Math.round(took)} ms`)
    else found[end as 'read' | 'refused']++
  }
  await Promise.all(seeds.map((seed) => turn(one, seed)))
  return { kind: kind.name, ...found, wrong }
}

const seedsOf = (kind: Kind, count: number, seed: number): readonly number[] =>
  Array.from({ length: count }, (_, at) => seed * 1_000_003 + kinds.indexOf(kind) * 100_003 + at)

const chosen = (named: readonly string[]): readonly Kind[] =>
  kinds.filter(({ name }) => named.length === 0 || named.includes(name))

/** So many files of each kind, or of those that are named, through the parsers, each in a process of its own. */
export async function* huntParsers(
  count: number,
  seed: number,
  named: readonly string[] = [],
): AsyncGenerator<Found, void> {
  for (const kind of chosen(named)) yield await hunted(kind, seedsOf(kind, count, seed), directly, 3)
}

/** The id of the enclave's process. */
const enclaveOf = (gateway: number): string | undefined =>
  readFileSync(`/proc/self/task/${gateway}/children`, 'utf8')
    .split(' ')
    .find((child) => child !== '' && readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('main.js\0enclave'))

/**
 * So many files of each kind, or of those that are named, sealed, through the tools of a real enclave. The last word tells
 * whether the enclave is still the same process.
 */
export async function* huntEnclave(
  count: number,
  seed: number,
  named: readonly string[] = [],
): AsyncGenerator<Found, boolean> {
  const ends: (() => unknown)[] = []
  const lasting = { teardown: (end: () => unknown) => void ends.unshift(end) } as unknown as Test
  const folder = await mkdtemp(join(tmpdir(), 'hunt-'))
  try {
    const config = checkedConfig({ log: { level: 'silent' } }, {})
    const it = await running(lasting, await production(config, folder), unhurried)
    const client = connect({ baseUrl: it.base, apiKey: it.key, kek: newKek(), policy: { allowInsecureDev: true } })
    const sealed: Try = async ({ name, tool }, bytes) => {
      const { id } = await client.files.upload({ name: `a.${name}`, bytes })
      return client.tools.call(tool, { fileId: id }).then(
        () => 'read',
        ({ code }: { readonly code: unknown }) => (code === 'unreadable_file' ? 'refused' : String(code)),
      )
    }
    await client.tools.call('getTime', { timezone: 'UTC' })
    const before = enclaveOf(process.pid)
    for (const kind of chosen(named)) yield await hunted(kind, seedsOf(kind, count, seed), sealed, 2)
    return before !== undefined && enclaveOf(process.pid) === before
  } finally {
    for (const end of ends) await end()
    await rm(folder, { recursive: true, force: true })
  }
}
