import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { parse } from 'csv-parse/sync'
import { memory } from '../../../adapters/memory/index.ts'
import { createGateway } from '../../../core/gateway.ts'
import { use } from '../../../core/plugin.ts'
import rehearsal from '../../../plugins/providers/rehearsal.ts'
import useLite from '../../../plugins/providers/use-lite.ts'
import { unhurried } from '../../environments.ts'

/**
 * `npm run bench:rules -- FOLDER`: a rule beside one model alone. The folder has tables of prompts, as in
 * `routellm/evals/mmlu/responses` of the public repository RouteLLM: the prompt, and whether the small and the large model answered it right.
 */
const { values, positionals } = parseArgs({
  options: { every: { type: 'string', default: '20' }, ratio: { type: 'string', default: '100' } },
  allowPositionals: true,
})

interface Judged {
  readonly prompt: string
  readonly isSmallRight: boolean
  readonly isLargeRight: boolean
}

const judgedIn = (folder: string, every: number): readonly Judged[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.csv'))
    .toSorted()
    .flatMap((name) => parse(readFileSync(join(folder, name)), { from_line: 2 }) as string[][])
    .filter((_, at) => at % every === 0)
    .map(([prompt = '', small, large]) => ({ prompt, isSmallRight: small === 'True', isLargeRight: large === 'True' }))

const [folder] = positionals
if (folder === undefined) throw new Error('The folder of the tables is missing')
const judged = judgedIn(folder, Number(values.every))

const served = (model: string) => ({ upstreams: [{ provider: 'rehearsal', model }] })
const gateway = createGateway(
  { ...memory(), upstreams: [use(rehearsal), use(useLite)] },
  {
    ...unhurried,
    models: {
      ...{ small: served('rehearsal'), large: served('rehearsal') },
      'use-lite': { type: 'DECISION', upstreams: [{ provider: 'use-lite' }] },
      auto: {
        decide: { with: 'use-lite' },
        routes: ['hard', 'code'].map((when) => ({ when, model: 'large' })),
        otherwise: 'small',
      },
    },
  },
)
const { credential } = await gateway.keys.create({})

const isLarge = async (prompt: string): Promise<boolean> => {
  const body = JSON.stringify({ model: 'auto', max_tokens: 1, messages: [{ role: 'user', content: prompt }] })
  const headers = { authorization: `Bearer ${credential}`, 'content-type': 'application/json' }
  const answer = await gateway.fetch(
    new Request('http://gateway/v1/chat/completions', { method: 'POST', headers, body }),
  )
  await answer.text()
  const rule = answer.headers.get('x-sealgate-rule')
  if (rule === null) throw new Error(`The gateway answers ${answer.status} without a rule`)
  return rule.startsWith('large')
}

const began = performance.now()
const chosen: boolean[] = []
for (const { prompt } of judged) chosen.push(await isLarge(prompt))
const ms = (performance.now() - began) / judged.length

const share = (isRight: (one: Judged, at: number) => boolean) => judged.filter(isRight).length / judged.length
const percent = (part: number) => `${(100 * part).toFixed(1)} %`
const ratio = Number(values.ratio)
const large = chosen.filter(Boolean).length / judged.length
const [small, all] = [share((one) => one.isSmallRight), share((one) => one.isLargeRight)]
const auto = share((one, at) => (chosen[at] === true ? one.isLargeRight : one.isSmallRight))
const line = (name: string, right: number, part: number) =>
  console.log(
    `${name}: ${percent(right)} right, ${percent(part)} large, costs ${percent(part + (1 - part) / ratio)} of always large`,
  )

console.log(`${judged.length} prompts, ${ms.toFixed(1)} ms a call`)
line('always small', small, 0)
line('always large', all, 1)
line('auto', auto, large)
line('by lot, as many large', large * all + (1 - large) * small, large)
const done = judged.filter((one) => one.isLargeRight)
console.log(
  `where the large one is right, the small one would have done: ${percent(done.filter((one) => one.isSmallRight).length / done.length)}`,
)
await gateway.close()
process.exit(0)
