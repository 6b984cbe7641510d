import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pLimit from 'p-limit'
import type { Test } from 'tap'
import { checkedConfig } from '../../../adapters/production/config/config.ts'
import { production } from '../../../adapters/production/index.ts'
import { type Client, connect, newKek } from '../../../plugins/sealed/client/client.ts'
import { running, unhurried } from '../../environments.ts'
import { chance } from './damage.ts'
import type { Kind } from './file-kinds.ts'
import { type Found, foundOf, seedsOf } from './hunt-parsers.ts'
import { type End, patienceMs } from './play-files.ts'

/** The id of the enclave's process. */
const enclaveOf = (gateway: number): string | undefined =>
  readFileSync(`/proc/self/task/${gateway}/children`, 'utf8')
    .split(' ')
    .find((child) => child !== '' && readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('main.js\0enclave'))

/** Ends a file as the sealed tool of its kind does. */
const throughTool = async (client: Client, { name, parser }: Kind, bytes: Uint8Array): Promise<End> => {
  const { id } = await client.files.upload({ name: `a.${name}`, bytes })
  const began = performance.now()
  const end = await client.tools.call(parser.tool, { fileId: id }).then(
    () => 'read',
    ({ code }: { readonly code: unknown }) => (code === 'unreadable_file' ? 'refused' : String(code)),
  )
  const ms = Math.round(performance.now() - began)
  return { end: ms > patienceMs ? `ended after ${ms} ms` : end, ms }
}

/**
 * So many files of each of these kinds, sealed, through the tools of a real enclave. The last word tells whether the
 * enclave is still the same process.
 */
export async function* huntEnclave(count: number, seed: number, of: readonly Kind[]): AsyncGenerator<Found, boolean> {
  const ends: (() => unknown)[] = []
  const lasting = { teardown: (end: () => unknown) => void ends.unshift(end) } as unknown as Test
  const folder = await mkdtemp(join(tmpdir(), 'hunt-'))
  try {
    const config = checkedConfig({ log: { level: 'silent' } }, {})
    const gateway = await running(lasting, await production(config, folder), unhurried)
    const client = connect({
      baseUrl: gateway.base,
      apiKey: gateway.key,
      kek: newKek(),
      policy: { allowInsecureDev: true },
    })
    await client.tools.call('getTime', { timezone: 'UTC' })
    const before = enclaveOf(process.pid)
    for (const kind of of) {
      const turn = pLimit(2)
      const seeds = seedsOf(kind, count, seed)
      const one = async (own: number): Promise<readonly [number, End]> => [
        own,
        await throughTool(client, kind, await kind.make(chance(own))),
      ]
      yield foundOf(kind, await Promise.all(seeds.map((own) => turn(one, own))))
    }
    return before !== undefined && enclaveOf(process.pid) === before
  } finally {
    for (const end of ends) await end()
    await rm(folder, { recursive: true, force: true })
  }
}
