import { Unconfigured, Unreadable } from '../../core/errors.ts'

let poisoned = false

/** A tenth of a second of CPU. */
const work = (): void => {
  const began = process.cpuUsage()
  while (process.cpuUsage(began).user < 100_000) for (let turns = 1_000_000; turns > 0; turns--) Math.random()
}

const acts: Readonly<Record<string, () => unknown>> = {
  fine: () => {
    if (poisoned) throw new Unreadable()
  },
  refused: () => {
    throw new Unreadable()
  },
  aborts: () => process.abort(),
  leaves: () => process.exit(3),
  rejects: async () => {
    void Promise.reject(new Error('Nobody waits for it'))
    await new Promise((resolve) => setTimeout(resolve, 100))
  },
  'finds no engine': () => {
    throw new Unconfigured({ validator: { engine: 'Expected to be installed' } })
  },
  'takes a global away': () => {
    delete (globalThis as { structuredClone?: unknown }).structuredClone
  },
  'needs a global': () => structuredClone('x'),
  'poisons those behind it': () => {
    poisoned = true
  },
  'takes long': work,
  'waits too long': async () => {
    await new Promise((resolve) => setTimeout(resolve, 150))
    throw new Unreadable()
  },
  'takes too long': () => {
    work()
    throw new Unreadable()
  },
}

/** Stands for a parser that breaks by a file: the file says how. */
export default ({ bytes }: { readonly bytes: Uint8Array }): unknown => acts[Buffer.from(bytes).toString()]!()
