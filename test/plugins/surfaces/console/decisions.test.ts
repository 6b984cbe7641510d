import t from 'tap'
import { caseFigures } from '../../../../plugins/surfaces/console/browser/case-figures.ts'
import { type CaseQuestions, runCases } from '../../../../plugins/surfaces/console/browser/case-run.ts'
import { csvOf, rowsOf } from '../../../../plugins/surfaces/console/browser/csv.ts'
import { type Decided, decisionCost, opinionOf } from '../../../../plugins/surfaces/console/browser/decision-answers.ts'
import { decisionConfig, decisionSnippets } from '../../../../plugins/surfaces/console/browser/decision-code.ts'
import {
  type Draft,
  type DraftQuestion,
  bodyOf,
  flawOf,
} from '../../../../plugins/surfaces/console/browser/decision-draft.ts'
import { decisionTemplates } from '../../../../plugins/surfaces/console/browser/decision-templates.ts'
import { type Gateway, Refused } from '../../../../plugins/surfaces/console/browser/gateway.ts'
import { casesOf, mostCases } from '../../../../plugins/surfaces/console/browser/labelled-cases.ts'
import { type Scope, hasScope, scopes } from '../../../../core/access/caller.ts'
import { type Listed, reaches, sightOf } from '../../../../plugins/surfaces/console/browser/sight.ts'
import { readOrdered } from '../../../../core/dialects/json.ts'
import { parseDecision } from '../../../../plugins/shared/decisions/typed-decision.ts'

const never = new AbortController().signal

const which: DraftQuestion = {
  ...{ id: '7', type: 'choice', instructions: 'Which?' },
  options: ['10', '2', 'b', '__proto__'].map((label) => ({ label, meaning: label === 'b' ? 'The\u2028letter' : '' })),
}
const much: DraftQuestion = {
  ...{ id: 'much', type: 'score', instructions: '' },
  options: ['low', 'high'].map((meaning) => ({ label: '', meaning })),
}
const so: DraftQuestion = { ...much, id: '3', type: 'noul' }
const draft: Draft = {
  ...{ state: 'A "state"\u2028with\nlines', isJson: false, questions: [which, much, so] },
  ...{ samples: 2, steps: null, provider: '' },
}

t.test('a body says what the reader wrote, with every name where it stands', (t) => {
  const read = parseDecision(readOrdered(bodyOf(draft, 'm')))
  t.match(read, { model: 'm', state: draft.state, samples: 2, steps: null, provider: null })
  t.same(
    read.questions.map(({ id }) => id),
    ['7', 'much', '3'],
  )
  const [first, second, third] = read.questions.map(({ question }) => question)
  t.match(first, { type: 'choice', options: which.options.map(({ label }) => ({ label })) })
  t.equal(first?.type === 'choice' && first.options[2]?.description, 'The\u2028letter')
  t.match(second, { type: 'score', instructions: null, levels: ['low', 'high'] })
  t.match(third, { type: 'noul', yes: 'low', no: 'high' })
  const json = { ...draft, isJson: true, state: '{"2": 1.50,\n "1": 9007199254740993}' }
  t.match(bodyOf(json, 'm'), '1.50')
  t.equal(flawOf(json), null)
  t.equal(flawOf({ ...json, state: '{' }), 'The state is no JSON.')
  t.match(flawOf({ ...draft, questions: [which, which] }), 'same id')
  const twice = { ...which, options: [...which.options, { label: 'b', meaning: '' }] }
  t.match(flawOf({ ...draft, questions: [twice] }), 'stands there twice')
  for (const { name, draft } of decisionTemplates) t.ok(parseDecision(readOrdered(bodyOf(draft, 'm'))), name)
  t.end()
})

t.test('a snippet gives the body letter for letter, whatever stands in it', (t) => {
  const body = bodyOf({ ...draft, state: "`${process.exit()}` ''' \\n $(id) 'x'" }, 'm')
  const [curl, js, python] = decisionSnippets('http://x', '/compat/v1/decision', body)
  const [, raw = ''] = /String\.raw`([^]*?)`\n/.exec(js?.text ?? '') ?? []
  t.notMatch(raw, /`|\$\{/)
  t.same(JSON.parse(raw), JSON.parse(body))
  const [, text = ''] = /r'''([^]*?)'''/.exec(python?.text ?? '') ?? []
  t.same(JSON.parse(text), JSON.parse(body))
  t.match(curl?.text, `'\\''x'\\''`)
  t.same(JSON.parse(decisionConfig(['small', 'large'], 0.83)), {
    decision: { default: 'small', escalate: { below: 0.83, to: 'large' } },
  })
  t.same(JSON.parse(decisionConfig(['small'], 0.83)), { decision: { default: 'small' } })
  t.end()
})

t.test('a CSV is read as it was written, and with other separators', (t) => {
  const rows = [
    ['a "quoted" one', 'two\r\nlines', ''],
    ['x,y', ' z ', '5"'],
  ]
  t.same(rowsOf(csvOf(['p', 'q', 'r'], rows)), [['p', 'q', 'r'], ...rows])
  t.same(rowsOf('\ufeffa;b\n"1;2";3\n\n4;5'), [
    ['a', 'b'],
    ['1;2', '3'],
    ['4', '5'],
  ])
  t.same(rowsOf('a\tb\r1\t'), [
    ['a', 'b'],
    ['1', ''],
  ])
  for (const broken of ['a,"b', 'a,"b"c\n', '"']) t.equal(rowsOf(broken), null, broken)
  t.end()
})

t.test('cases are those of the question, each once, and not too many', (t) => {
  const csv = (...rows: readonly string[]) => ['id,State,answer', ...rows].join('\n')
  t.same(casesOf(csv('1,s1,b', '2,s2,__proto__', '3,s1,b'), which), [
    { state: 's1', truth: 2 },
    { state: 's2', truth: 3 },
  ])
  t.same(
    casesOf(csv('1,a,1', '2,b,low'), much).map(({ truth }) => truth),
    [1, 0],
  )
  t.same(
    casesOf(csv('1,a,Yes', '2,b,false', '3,c,0'), so).map(({ truth }) => truth),
    [0, 1, 1],
  )
  t.throws(() => casesOf(csv('1,a,b', '2,b,secret words'), which), { message: 'Row 3 has no answer to this question.' })
  t.throws(() => casesOf(csv('1,a,toString'), so), /Row 2/)
  t.throws(() => casesOf('text,label\na,b', which), /columns state and answer/)
  t.throws(() => casesOf('state,answer\n"a', which), /columns state and answer/)
  t.throws(() => casesOf(csv(), which), /no cases/)
  const many = (count: number) => csv(...Array.from({ length: count }, (_, at) => `,s${at},b`))
  t.equal(casesOf(many(mostCases), which).length, mostCases)
  t.throws(() => casesOf(many(mostCases + 1), which), /more than 2000 cases/)
  t.end()
})

const decided = (noul: number, more: Partial<Decided['diagnostics']> = {}): Decided => ({
  ...{ model: 'm', answers: { 3: { noul } }, usage: { input_tokens: 10, output_tokens: 2 } },
  diagnostics: { engine: 'e', backend: 'b', reads: 1, timing_ms: 1, questions: {}, ...more },
})

t.test('an answer is read by its question, and one that lacks a label is none', (t) => {
  t.same(opinionOf(so, decided(0.2)), {
    ...{ said: 'no', probabilities: [0.2, 0.8], confidence: 0.6, unreliable: false },
  })
  const probabilities = JSON.parse('{"10":0.1,"2":0.2,"b":0.3,"__proto__":0.4}') as Record<string, number>
  const answers = { 7: { choice: '__proto__', confidence: 0.2, probabilities } }
  t.same(opinionOf(which, { ...decided(0), answers }).probabilities, [0.1, 0.2, 0.3, 0.4])
  delete probabilities['2']
  t.throws(() => opinionOf(which, { ...decided(0), answers }), /lacks a label/)
  t.throws(() => opinionOf(much, decided(0)), /lacks a question/)
  t.end()
})

const both = { prompt_price_per_k: 0.5, completion_price_per_k: 2 }
const listed = (price: object): Listed => ({
  ...{ model: 'm', clear: true, sealed: false, decides: true },
  described: {
    ...{ model: 'm', name: 'm', type: 'CHAT', owned_by: '', regions: [], usage_mode: 'standard' },
    price_config: { standard: { eu: { ...price } } },
  },
})

t.test('a cost is that of the listed prices, and unknown where another model answered too', (t) => {
  t.equal(decisionCost(listed(both), decided(0)), 0.009)
  t.equal(decisionCost(listed({ ...both, request_price: 1 }), decided(0)), 1.009)
  t.equal(decisionCost(listed({ prompt_price_per_k: 0.5 }), decided(0)), null)
  t.equal(decisionCost(undefined, decided(0)), null)
  t.equal(decisionCost(listed(both), decided(0, { escalated: { model: 'large' } })), null)
  t.equal(decisionCost(listed(both), decided(0, { escalated: { model: 'large', failed: true } })), 0.009)
  t.end()
})

const cases = Array.from({ length: 40 }, (_, at) => ({ state: `${at}`, truth: at % 2 }))
const asking = (ask: CaseQuestions['ask']) => {
  const told = { heard: 0, asked: 0, waited: 0 }
  const given: CaseQuestions = {
    cases,
    ask: (question) => (told.asked++, ask(question)),
    wait: async (ms) => void (told.waited += ms),
    heard: () => void told.heard++,
  }
  return { told, given }
}

t.test('every case is asked once, and tried again after what may pass', async (t) => {
  let busy = 1
  const { told, given } = asking(async () => {
    if (busy-- > 0) throw new Refused(429, 'Too many')
    return decided(0.9, { escalated: { model: 'large' } })
  })
  const run = await runCases(given, never)
  t.same([run.answered.length, run.unanswered, told.heard, told.asked], [40, 0, 40, 41])
  const figures = caseFigures(listed(both), run, so, 0.05)
  t.match(figures, { answered: 40, escalated: 40, accuracy: 0.5, promise: null, cost: null })
  t.ok(Math.abs((figures?.ece ?? 0) - 0.4) < 1e-9, 'the model claims 0.9 and is right in a half')
  t.equal(caseFigures(listed(both), { answered: [], unanswered: 3 }, so, 0.05), null)
  const alone = { answered: [1, 0].map((truth) => ({ truth, decided: decided(0.9) })), unanswered: 0 }
  t.equal(caseFigures(listed(both), alone, so, 0.05)?.cost, 0.018)
})

t.test('a refusal that does not pass ends the run at once', async (t) => {
  const { told, given } = asking(async () => {
    throw new Refused(400, 'Validation failed')
  })
  await t.rejects(runCases(given, never), new Refused(400, 'Validation failed'))
  t.ok(told.asked <= 3, 'one call a lane')
})

t.test('a case that stays unanswered is counted, and five in a row end the run', async (t) => {
  const away = new Refused(503, 'Away')
  const { told, given } = asking(async ({ state }) => {
    if (Number(state) % 5 === 0) throw away
    return decided(0.9)
  })
  const { answered, unanswered } = await runCases(given, never)
  t.same([answered.length, unanswered, told.heard], [32, 8, 40])
  t.equal(told.waited, 8 * 7_500, 'each was tried five times')
  const none = asking(async () => {
    throw away
  })
  await t.rejects(runCases(none.given, never), away)
  t.ok(none.told.asked <= 5 * 7, `${none.told.asked} calls`)
  const few = { ...none.given, cases: cases.slice(0, 2) }
  await t.rejects(runCases(few, never), away, 'two cases without an answer have no figures')
})

t.test('a reader who stops keeps the answers so far, and nothing more is asked', async (t) => {
  const stopping = new AbortController()
  const { told, given } = asking(async () => {
    if (told.asked === 10) stopping.abort()
    if (told.asked === 11) throw new DOMException('left', 'AbortError')
    return decided(0.9)
  })
  const { answered } = await runCases(given, stopping.signal)
  t.ok(answered.length >= 7 && answered.length < 10, `${answered.length} answers`)
  t.ok(told.asked <= 12, `${told.asked} calls`)
})

t.test('the page is there for a key that asks and lists models', async (t) => {
  const none = () => Promise.reject(new Refused(403, 'Not for this key'))
  const decides = async (scopes: readonly string[] | null, links: object = { decisions: '/compat/v1/decision' }) => {
    const answers: Readonly<Record<string, object>> = { '/': { links }, '/admin/self': { scopes, operator: false } }
    const gateway: Gateway = {
      ...{ base: '', read: none, post: none, text: none, raw: none },
      async *sent() {},
      async ask<T>(_: string, path: string) {
        if (scopes === null && path !== '/') throw new Refused(404, 'No administration')
        return answers[path] as T
      },
      async *events() {},
    }
    return (await sightOf(gateway)).decides
  }
  t.equal(await decides(['chats.completion', 'models.read']), true)
  t.equal(await decides(['chats.completion']), true, 'its scope lets it list models too')
  t.equal(await decides([]), false)
  t.equal(await decides(['models.read']), false)
  t.equal(await decides(null), true, 'without administration the routes themselves refuse')
  t.equal(await decides(['chats.completion', 'models.read'], {}), false, 'the surface is switched off')
})

t.test('the console and the gateway read scopes by the same rule', (t) => {
  const some: readonly (readonly Scope[])[] = [[], ...scopes.map((scope) => [scope]), scopes]
  for (const given of some)
    for (const scope of scopes)
      t.equal(reaches(given, scope), hasScope({ scopes: given }, scope), `${given.join(' ')} for ${scope}`)
  t.end()
})
