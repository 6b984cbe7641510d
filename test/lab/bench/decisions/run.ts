import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { memory } from '../../../../adapters/memory/index.ts'
import { createGateway } from '../../../../core/gateway.ts'
import { use } from '../../../../core/plugin.ts'
import useLite from '../../../../plugins/providers/use-lite.ts'
import { accuracy, best, brier, calibrationError, flips, massOf, mean, median, type Judged } from './figures.ts'
import { itemsOf, labelsOf, reversed, truthOf, type Asked, type Item } from './set.ts'

/** `npm run bench:decisions [-- <base url> <key> <model>]`: how good the decisions of a gateway are; by default the offline one. */
interface Asking {
  readonly base: string
  readonly key: string
  readonly model: string
}

interface Told {
  readonly answers: Readonly<
    Record<string, { readonly noul?: number; readonly probabilities?: Readonly<Record<string, number>> }>
  >
  readonly diagnostics?: {
    readonly questions?: Readonly<Record<string, { readonly label_mass?: number | null }>>
  }
}

const offline = async () => {
  const limits = { requestsPerSecond: null, tokensPerMinute: null }
  const gateway = createGateway(
    { ...memory(), upstreams: [use(useLite)] },
    { limits: { key: limits, organization: limits } },
  )
  const { credential } = await gateway.keys.create({})
  const server = createServer(gateway.listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    asking: {
      base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      key: credential,
      model: 'use-lite',
    } satisfies Asking,
    async close() {
      server.close()
      server.closeAllConnections()
      await gateway.close()
    },
  }
}

/** Probabilities in the order of the question's labels. */
const ask = async ({ base, key, model }: Asking, state: unknown, question: Asked) => {
  for (let tries = 0; ; tries++) {
    const began = performance.now()
    const answer = await fetch(`${base}/compat/v1/decision`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, state, questions: { asked: question } }),
    })
    const text = await answer.text()
    if (answer.status === 429 && tries < 8) {
      await sleep(Number(answer.headers.get('retry-after-ms') ?? 1000))
      continue
    }
    if (answer.status !== 200) throw new Error(`${answer.status} ${text}`)
    const { answers, diagnostics } = JSON.parse(text) as Told
    const { noul, probabilities } = answers['asked']!
    return {
      probabilities: noul === undefined ? labelsOf(question).map((label) => probabilities![label]!) : [noul, 1 - noul],
      mass: diagnostics?.questions?.['asked']?.label_mass ?? null,
      ms: performance.now() - began,
    }
  }
}

const judge = async (asking: Asking, item: Item): Promise<Judged> => {
  const { probabilities, mass, ms } = await ask(asking, item.state, item.question)
  const turned =
    item.question.type === 'noul' ? null : (await ask(asking, item.state, reversed(item.question))).probabilities
  return { probabilities, mass, ms, truth: truthOf(item), turned: turned && turned.length - 1 - best(turned) }
}

/** What would be right without reading: each label alike, and always the place that is most often right. */
const baselines = (judged: readonly Judged[]): string => {
  const uniform = mean(judged.map(({ probabilities }) => 1 / probabilities.length))
  const most = Math.max(...judged.map(({ truth }) => judged.filter((verdict) => verdict.truth === truth).length))
  return `uniform ${percent(uniform)} (Brier ${(1 - uniform).toFixed(3)}), majority ${percent(most / judged.length)}`
}

const percent = (share: number | null): string => (share === null ? '-' : `${(share * 100).toFixed(1)} %`)

const line = (name: string, judged: readonly Judged[]): string =>
  [
    `${name}: ${judged.length} decisions`,
    `accuracy ${percent(accuracy(judged))}`,
    `Brier ${brier(judged).toFixed(3)}`,
    `ECE ${calibrationError(judged).toFixed(3)}`,
    `order flips ${percent(flips(judged))}`,
    `label mass ${massOf(judged)?.toFixed(3) ?? '-'}`,
    `median ${median(judged.map(({ ms }) => ms)).toFixed(0)} ms`,
    `against ${baselines(judged)}`,
  ].join(', ')

const [base, key, model] = process.argv.slice(2)
const started = base === undefined ? await offline() : null
const asking = started?.asking ?? { base: base!, key: key ?? '', model: model ?? 'jev-latest' }
try {
  const judged = new Map<Item, Judged>()
  for (const item of await itemsOf('measure')) judged.set(item, await judge(asking, item))
  for (const type of ['choice', 'noul', 'score'] as const) {
    const some = [...judged].flatMap(([{ question }, verdict]) => (question.type === type ? [verdict] : []))
    console.log(line(type, some))
  }
  console.log(line('overall', [...judged.values()]))
} finally {
  await started?.close()
}
