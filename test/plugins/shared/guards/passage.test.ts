import t from 'tap'
import type { Guard, GuardedCall } from '../../../../core/ports/guard.ts'
import type { Completion } from '../../../../core/ports/upstream.ts'
import { namesOf } from '../../../../plugins/guards/shared/placeholders.ts'
import { freePace } from '../../../../core/dialects/loop-time.ts'
import { passageOf } from '../../../../plugins/shared/guards/passage.ts'
import { turnsDuring } from '../../../turns-during.ts'
import { bookedWork } from '../../guards/booked-work.ts'

/** A guard that hides digits, and the pieces that it saw. */
const watching = (more: Partial<GuardedCall> = {}) => {
  const pieces: string[] = []
  const take = (piece: string) => {
    pieces.push(piece)
    return { text: piece.replace(/\d/g, '#') }
  }
  const guard: Guard = {
    ...{ name: 'digits', marks: [] },
    begin: () => ({ answer: () => ({ take, end: () => ({ text: '' }) }) }),
  }
  return { pieces, passage: passageOf([guard], { model: 'm', organization: 'o', ...more })! }
}

const completionOf = (contents: readonly string[]): Completion => ({
  ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
  choices: contents.map((content, index) => ({
    ...{ index, message: { role: 'assistant', content }, finish_reason: 'stop', logprobs: null },
  })),
})

/** The texts that the guard lets go on, its pieces, and the turns of the loop meanwhile. */
const answered = async (contents: readonly string[]) => {
  const { pieces, passage } = watching()
  let texts: readonly unknown[] = []
  const turns = await turnsDuring(async () => {
    const { completion } = await passage.answer({ kind: 'completion', completion: completionOf(contents) })
    texts = completion.choices.map(({ message }) => message.content)
  })
  return { pieces, turns, texts }
}

t.test('guards see a long text of a whole answer in pieces, each in a turn of the loop', async (t) => {
  // The last unit of each 16 Ki is the first half of a character.
  const content = `1${'🙂'.repeat(100_000)}2`
  const { pieces, turns, texts } = await answered([content])
  t.same(texts, [content.replace(/\d/g, '#')])
  t.ok(pieces.length >= 12 && pieces.every((piece) => piece.length <= 16 * 1024 + 1), `${pieces.length} pieces`)
  t.ok(
    pieces.every((piece) => Buffer.from(piece).toString() === piece),
    'no piece has half of a character',
  )
  t.ok(turns >= pieces.length - 2, `${turns} turns`)
})

t.test('many short texts of one answer take turns too', async (t) => {
  const { pieces, turns } = await answered(Array.from({ length: 1_000 }, () => 'a 1'))
  t.equal(pieces.length, 1_000)
  t.ok(turns >= 8, `${turns} turns`)
})

t.test('the work on an answer is booked to the caller, by its length', async (t) => {
  const { pace, ns } = bookedWork()
  const { passage } = watching({ pace })
  await passage.answer({ kind: 'completion', completion: completionOf(['a'.repeat(1_000_000)]) })
  t.ok(ns() >= 50e6, `${ns()} ns`)
})

t.test('one short text waits for no turn', async (t) => {
  const { pieces, turns, texts } = await answered(['a 1'])
  t.same({ pieces, turns, texts }, { pieces: ['a 1'], turns: 0, texts: ['a #'] })
})

t.test('placeholders that the caller writes are remembered in turns of the loop', async (t) => {
  const names = namesOf()
  const text = Array.from({ length: 20_000 }, (_, at) => `[EMAIL_${at + 1}]`).join(' ')
  const turns = await turnsDuring(() => names.keepClear(text, freePace()))
  t.ok(turns >= 8, `${turns} turns`)
  t.equal(names.of('email', 'a@b.co'), '[EMAIL_20001]')
})

/** The arguments of a tool call behind the guard. */
const calledWith = async (json: string) => {
  const { passage } = watching()
  const call = { id: 'c', type: 'function', function: { name: 'x', arguments: json } }
  const completion = completionOf([''])
  const choices = completion.choices.map((choice) => ({
    ...choice,
    message: { ...choice.message, tool_calls: [call] },
  }))
  const { completion: next } = await passage.answer({ kind: 'completion', completion: { ...completion, choices } })
  return next.choices[0]!.message.tool_calls![0]!.function.arguments
}

t.test('texts in arguments change where they stand, and nothing else does', async (t) => {
  const json =
    '{ "id": 12345678901234567890, "7" : "\\u0031 \\"2\\\\", "n": 1.50e2, "a": ["3" , "", "x\\/y"], "a\\"4":{"b":"5"}}'
  const next =
    '{ "id": 12345678901234567890, "7" : "# \\"#\\\\", "n": 1.50e2, "a": ["#" , "", "x\\/y"], "a\\"4":{"b":"#"}}'
  t.equal(await calledWith(json), next)
  t.equal(await calledWith('"1"'), '"#"')
  t.equal(await calledWith('{"a":"1'), '{"a":"#', 'what is no JSON is a text')
})

t.test('arguments full of escapes are read in time that grows with their length', async (t) => {
  for (const filling of ['\\\\', '\\"', '\\u0020']) {
    const json = `{"a":"${filling.repeat(1_000_000)}1"}`
    t.ok((await calledWith(json)).endsWith('#"}'), filling)
  }
  const blank = `{"a":"1"${' '.repeat(4_000_000)}}`
  t.equal(await calledWith(blank), blank.replace('"1"', '"#"'))
})

t.test('an answer of a dialect that spells its text token by token is worded anew', async (t) => {
  const native = (logprobs: readonly object[] | undefined) => {
    const part = { type: 'output_text', text: 'a 1', logprobs }
    const body = { output: [null, { type: 'reasoning' }, { content: [part] }] }
    return { dialect: 'responses' as const, headers: {}, body }
  }
  for (const [logprobs, isKept] of [
    [[{ token: '1' }], false],
    [[], true],
    [undefined, true],
  ] as const) {
    const whole = { kind: 'completion' as const, completion: completionOf(['a 1']), native: native(logprobs) }
    const answer = await watching().passage.answer(whole)
    t.match(answer.completion.choices[0], { message: { content: 'a #' } })
    t.equal(answer.native !== undefined, isKept, JSON.stringify(logprobs))
    t.notMatch(JSON.stringify(answer), '"token":"1"')
  }
})
