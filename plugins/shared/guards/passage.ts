import { freePace } from '../../../core/dialects/loop-time.ts'
import { BadRequest } from '../../../core/errors.ts'
import type { Guard, GuardedCall, GuardedPiece, TextWatch, Verdict, Watch } from '../../../core/ports/guard.ts'
import type { Passage } from '../../../core/ports/chat-filter.ts'
import type { Completion, Native } from '../../../core/ports/upstream.ts'
import { type Steps, chunksThrough, done, passed, waited } from './chunks.ts'
import { itemsIn } from '../backend.ts'
import { answerWording, requestWording } from './texts.ts'

/** By this code programs tell a guard's refusal from others. */
export const guardRefused = 'guard_refused'

interface Begun {
  readonly guard: Guard
  readonly watch: Watch
}

/** Null when there is no guard. */
export const passageOf = (guards: readonly Guard[], call: GuardedCall): Passage | null =>
  guards.length === 0 ? null : passageBy(guards, call)

const passageBy = (guards: readonly Guard[], call: GuardedCall): Passage => {
  const all: readonly Begun[] = guards.map((guard) => ({ guard, watch: guard.begin(call) }))
  const marks = new Set<string>()
  const pace = call.pace ?? freePace()

  const heed = <V extends Verdict>({ name, marks: known }: Guard, verdict: V, sentence: string): V => {
    if (verdict.refuses) throw new BadRequest(sentence, { code: guardRefused })
    for (const mark of verdict.marks ?? []) {
      // A mark is public, so a mark outside of the list could be a caller's text.
      if (!known.includes(mark)) throw new Error('A guard marks with a word that it does not declare')
      marks.add(`${name}/${mark}`)
    }
    return verdict
  }

  /** All guards as one watch; null when no guard watches the answer. */
  const watchText = (): TextWatch | null => {
    const watches = all.toReversed().flatMap(({ guard, watch }) => {
      const watching = watch.answer?.() ?? null
      return watching === null ? [] : [{ guard, watching }]
    })
    return watches.length === 0 ? null : inRow(watches, heed)
  }

  const watched = { watching: watchText, pace }
  return {
    async request(body, signal) {
      let current = body
      for (const { guard, watch } of all) {
        if (watch.request === undefined) continue
        const wording = requestWording(current)
        const { texts } = heed(guard, await watch.request(wording.texts, signal), 'A guard refuses the request')
        if (texts.length !== wording.texts.length) throw new Error('A guard gives another number of texts')
        current = wording.with(texts)
      }
      return current
    },
    async answer(answer) {
      if (watchText() === null) return answer
      const { completion, text, native } = answer
      const next = await done(passed(answerWording(withoutOdds(completion)), watched))
      const own = native &&
        !spells(native) && { ...native, body: await done(passed(answerWording(native.body), watched)) }
      const same = next === completion && text !== undefined
      return { kind: 'completion', completion: next, ...(same && { text }), ...(own && { native: own }) }
    },
    chunks: (chunks) => (watchText() === null ? chunks : chunksThrough(chunks, watched)),
    marks: () => [...marks],
  }
}

type Heed = <V extends Verdict>(guard: Guard, verdict: V, sentence: string) => V

const inRow = (watches: readonly { readonly guard: Guard; readonly watching: TextWatch }[], heed: Heed): TextWatch => {
  const sentence = 'A guard refuses the answer'
  return {
    take: (piece) => done(taken(piece)),
    end: () => done(ended()),
  }

  function* taken(piece: string): Steps<GuardedPiece> {
    let text = piece
    for (const { guard, watching } of watches)
      if (text !== '') text = heed(guard, yield* waited(watching.take(text)), sentence).text
    return { text }
  }

  function* ended(): Steps<GuardedPiece> {
    let text = ''
    for (const { guard, watching } of watches) {
      const before = text === '' ? '' : heed(guard, yield* waited(watching.take(text)), sentence).text
      text = before + heed(guard, yield* waited(watching.end()), sentence).text
    }
    return { text }
  }
}

/** Whether the answer of a dialect has log-probabilities. */
const spells = ({ body: { candidates, output } }: Native): boolean =>
  itemsIn(candidates).some(({ logprobsResult }) => logprobsResult != null) ||
  itemsIn(output).some(({ content }) => itemsIn(content).some(({ logprobs }) => itemsIn(logprobs).length > 0))

/** Log-probabilities spell the text of a backend token by token, where no guard recognises it. */
const withoutOdds = (completion: Completion): Completion =>
  completion.choices.every(({ logprobs }) => logprobs == null)
    ? completion
    : { ...completion, choices: completion.choices.map((choice) => ({ ...choice, logprobs: null })) }
