import { type Client, connect, newKek } from '../../plugins/sealed/client/client.ts'
import type { Stage } from '../lab/hunt/stage.ts'
import type { Figure, Scene } from './scene.ts'

export const clientOf = (baseUrl: string, apiKey: string): Client =>
  connect({ baseUrl, apiKey, policy: { allowInsecureDev: true }, kek: newKek() })

/** A file of one organisation, and the call of a tool on it. */
const reading = async (client: Client, tool: string, name: string, bytes: Uint8Array) => {
  const { id } = await client.files.upload({ name, bytes })
  return (signal?: AbortSignal) => client.tools.call(tool, { fileId: id }, signal && { signal })
}

/** Ms that a call takes, at most `most`; what it answers is no matter. */
const taken = async (call: (signal: AbortSignal) => Promise<unknown>, most: number): Promise<number> => {
  const began = performance.now()
  await call(AbortSignal.timeout(most)).catch(() => undefined)
  return performance.now() - began
}

/** Each record costs a parser of YAML thousands of times its length. */
const yaml = (bytes: number): Buffer => Buffer.alloc(bytes, '- a: {b: [1, 2, {c: d}]}\n')

const beside = (name: string, calls: number, bytes: number): Scene => ({
  name,
  async play(stage: Stage) {
    const [ours, theirs] = [clientOf(stage.base, stage.key), clientOf(stage.base, await stage.keyOf('quiet'))]
    const hostile = await reading(ours, 'getDataFileContent', 'large.yaml', yaml(bytes))
    const line = await reading(theirs, 'getTextDocumentContent', 'line.txt', Buffer.from('One line.'))
    const patience = 120_000
    await line()
    const alone = await taken(line, patience)
    const job = await taken(hostile, patience)
    const stop = new AbortController()
    const parsing = Array.from({ length: calls }, () => hostile(stop.signal).catch(() => undefined))
    // By then all of them wait for a parser.
    await Promise.race([...parsing, new Promise((resolve) => setTimeout(resolve, 1_000))])
    const waited = await taken(line, patience)
    stop.abort()
    await Promise.all(parsing)
    const figure: Figure = { name: 'ms of the one line beside them', value: waited, most: 3 * alone + job }
    // Each call has the file over the line to the enclave.
    return { sent: calls * bytes, figures: [figure] }
  },
})

const large = (calls: number, bytes: number): Scene => ({
  name: `${calls} calls of a tool on one file of ${bytes / 1_000_000} MB`,
  only: 'long',
  async play(stage: Stage) {
    const call = await reading(
      clientOf(stage.base, stage.key),
      'getTextDocumentContent',
      'large.txt',
      Buffer.alloc(bytes, 'One line.\n'),
    )
    await Promise.all(Array.from({ length: calls }, () => call(AbortSignal.timeout(120_000)).catch(() => undefined)))
    return { sent: bytes }
  },
})

/** What one organisation has parsed, and what another waits for. */
export const lanes: readonly Scene[] = [
  beside('one line beside four parses of 0.1 MB of YAML', 4, 100_000),
  // A hundred parses leave as many cores to the one line as the machine has beside them.
  { ...beside('one line beside a hundred parses of 0.4 MB of YAML', 100, 400_000), only: 'bench' },
  { ...beside('one line beside four parses of 3.6 MB of YAML', 4, 3_600_000), only: 'long' },
  large(12, 60_000_000),
]
