import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Round, above, contest, times } from './contest.ts'
import { type Measured, type Subject, measure, start } from './measure.ts'
import { told, toldAbove } from './told.ts'

const key = `sk_live_${'2'.repeat(44)}`
const load = {
  path: '/v1/chat/completions',
  body: JSON.stringify({ model: 'bench', messages: [{ role: 'user', content: 'Say "words".\n'.repeat(80) }] }),
  headers: { authorization: `Bearer ${key}` },
  requests: 1_000,
  concurrency: 8,
}
const other = 'the gateway without it'

/** A journal of usage costs CPU: whole answers of a gateway with it, beside a gateway without it. */
export async function* journal(): AsyncGenerator<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sealgate-journal-'))
  const upstream = await start('upstream')
  const env = { UPSTREAM: upstream.base, KEY: key }
  const [without, kept] = await Promise.all([
    start('sealgate-chat', env),
    start('sealgate-chat', { ...env, JOURNAL: folder }),
  ])
  try {
    const cost = await contest(round(without, 'cpu'), { kept: round(kept, 'cpu') }, times)
    yield told('the journal of usage', cost['kept']!, 1.1, other)
    const late = await contest(round(without, 'p99'), { kept: round(kept, 'p99') }, above(0.5))
    yield toldAbove('the journal of usage, p99', late['kept']!, null, other)
  } finally {
    await Promise.all([without, kept, upstream].map((subject) => subject.stop()))
    await rm(folder, { recursive: true, force: true })
  }
}

const round =
  (subject: Subject, figure: keyof Measured): Round =>
  async () => {
    const figures = await measure(subject, load)
    if (figures.failed > 0) throw new Error(`${figures.failed} of ${load.requests} requests failed`)
    return figures[figure]
  }
