import t from 'tap'
import { pushToPull } from '../../../../plugins/providers/llama/push-to-pull.ts'
import { turnsOf } from '../../../../plugins/providers/llama/local-chat-turns.ts'
import { decideByVocabulary, type NextTokens } from '../../../../plugins/providers/llama/decide-by-logits.ts'
import type { DecideCall, Message, Question } from '../../../../core/ports/upstream.ts'
import { never } from '../../../fakes/vendor.ts'

t.test('pushed pieces arrive in order, then the result', async (t) => {
  const told = pushToPull<number, string>(async (tell) => {
    tell(1)
    tell(2)
    await Promise.resolve()
    tell(3)
    return 'done'
  }, never)
  const pieces: (number | string)[] = []
  for (let read = await told.next(); ; read = await told.next()) {
    pieces.push(read.value)
    if (read.done) break
  }
  t.same(pieces, [1, 2, 3, 'done'])
})

t.test('a fault follows the pushed pieces, and a reader that leaves stops the work', async (t) => {
  const fault = new Error('broken')
  const broken = pushToPull<number, void>(async (tell) => {
    tell(1)
    throw fault
  }, never)
  t.same(await broken.next(), { value: 1, done: false })
  await t.rejects(broken.next(), fault)

  let stopped = false
  const endless = pushToPull<number, void>(
    (tell, signal) =>
      new Promise((_, reject) => {
        tell(1)
        signal.addEventListener('abort', () => {
          stopped = true
          reject(signal.reason)
        })
      }),
    never,
  )
  for await (const _ of endless) break
  t.ok(stopped)
})

t.test('turns hold text alone, and the last turn may be unfinished', async (t) => {
  const turns = (messages: readonly Message[], more: object = {}, prefix?: string) =>
    turnsOf({ model: 'm', body: { messages, ...more }, stream: false, ...(prefix !== undefined && { prefix }) })
  t.same(
    turns(
      [
        { role: 'system', content: 'Be brief.' },
        { role: 'developer', content: 'Be kind.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
        { role: 'assistant', content: 'c' },
      ],
      {},
      'and',
    ),
    [
      { type: 'system', text: 'Be brief.' },
      { type: 'system', text: 'Be kind.' },
      { type: 'user', text: 'a\nb' },
      { type: 'model', response: ['c'] },
      { type: 'model', response: ['and'] },
    ],
  )
  const wrong = { name: 'BadRequest' }
  const tool = { id: '1', type: 'function', function: { name: 'x', arguments: '{}' } }
  t.throws(() => turns([{ role: 'user', content: 'a' }], { tools: [tool] }), wrong)
  t.throws(() => turns([{ role: 'user', content: 'a' }], { n: 2 }), wrong)
  t.throws(() => turns([{ role: 'tool', content: 'a' }]), wrong)
  t.throws(() => turns([{ role: 'assistant', tool_calls: [tool] }]), wrong)
  t.throws(() => turns([{ role: 'user', content: [{ type: 'image_url' }] }]), wrong)
})

t.test('a decision adds the variants of a mark and averages the rotations', async (t) => {
  const choice: Question = {
    type: 'choice',
    instructions: 'Which?',
    options: ['red', 'green'].map((label) => ({ label, description: null })),
  }
  const noul: Question = { type: 'noul', instructions: 'So?', yes: null, no: null }
  const prompts: string[] = []
  const look =
    (seen: Readonly<Record<string, number>>) =>
    async (prompt: string): Promise<NextTokens> => {
      prompts.push(prompt)
      return { probabilities: new Map(Object.entries(seen)), usage: { input: 10, output: 1, cached: 4 } }
    }
  const call = (questions: readonly Question[], more: Partial<DecideCall> = {}): DecideCall => ({
    model: 'm',
    state: 'A state.',
    questions,
    images: [],
    samples: null,
    steps: null,
    ...more,
  })
  const seen = { A: 0.2, ' a': 0.1, B: 0.1, yes: 0.05, ' No': 0.15, '7': 0.3 }
  const one = await decideByVocabulary(look(seen), call([choice, noul]), never)
  t.match(one, { engine: 'logprobs', usage: { input: 20, output: 2, cached: 8 } })
  const [first, second] = one.distributions
  t.ok(Math.abs(first!.probabilities[0]! - 0.75) < 1e-9 && Math.abs(first!.labelMass! - 0.4) < 1e-9)
  t.ok(Math.abs(second!.probabilities[0]! - 0.25) < 1e-9 && Math.abs(second!.labelMass! - 0.2) < 1e-9)
  t.ok(prompts.every((prompt) => prompt.startsWith('A state.\n\n')))

  const both = await decideByVocabulary(look(seen), call([choice], { samples: 2, steps: 3 }), never)
  t.match(both, { ignored: ['steps'], distributions: [{ probabilities: [0.5, 0.5], reads: 2 }] })
  const astray = await decideByVocabulary(look({ A: 0.001, B: 0.9 }), call([noul, choice]), never)
  t.match(astray.distributions, [{ refused: 'astray' }, { labelMass: 0.901 }], 'a model that names no label declines')
  const image = decideByVocabulary(look(seen), call([choice], { images: ['data:'] }), never)
  await t.rejects(image, { name: 'BadRequest' })
})
