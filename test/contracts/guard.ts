import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import type { Guard, GuardedText, TextWatch, Watch } from '../../core/ports/guard.ts'
import { type Contract, proof } from './contract.ts'

/** A guard with texts that it leaves alone, and texts that it changes, marks or refuses. */
export interface TriedGuard {
  readonly guard: Guard
  /** A text that the guard has nothing against; it ends with a blank. */
  readonly harmless: string
  /** The outcome for a request, and for a text of its answer; null for a refusal. */
  readonly request: { readonly text: string; readonly becomes: string | null }
  readonly answer: { readonly text: string; readonly becomes: string | null }
}

const call = { model: 'small', organization: 'acme' }
const soon = () => AbortSignal.timeout(60_000)
const said = (...texts: readonly string[]): readonly GuardedText[] => texts.map((text) => ({ role: 'user', text }))

const asked = async (watch: Watch, ...texts: readonly string[]) =>
  (await watch.request?.(said(...texts), soon())) ?? { texts }

/** The whole text that goes on; null for a refusal. */
const heard = async (watch: TextWatch | null, pieces: readonly string[]): Promise<string | null> => {
  if (watch === null) return pieces.join('')
  let text = ''
  for (const piece of pieces) {
    const taken = await watch.take(piece)
    if (taken.refuses) return null
    text += taken.text
  }
  const rest = await watch.end()
  return rest.refuses ? null : text + rest.text
}

const contract = {
  'has a name, and declares its marks': async (fresh) => {
    const { guard } = await fresh()
    ok(/^[a-z][A-Za-z0-9-]{0,63}$/.test(guard.name))
    for (const mark of guard.marks) ok(/^[a-z][a-z0-9-]{0,31}$/.test(mark))
  },
  'does to a request what it is for': async (fresh) => {
    const { guard, request } = await fresh()
    const { texts, refuses = false } = await asked(guard.begin(call), request.text)
    equal(refuses, request.becomes === null)
    if (!refuses) equal(texts[0], request.becomes)
  },
  'gives as many texts as it is given, in their order, and leaves harmless ones alone': async (fresh) => {
    const { guard, harmless } = await fresh()
    const given = [`first ${harmless}`, harmless, harmless]
    const { texts } = await asked(guard.begin(call), ...given)
    deepEqual(texts, given)
  },
  'leaves the list that it is given as it is': async (fresh) => {
    const { guard, request, harmless } = await fresh()
    const given = said(request.text, harmless)
    const copy = structuredClone(given)
    await guard.begin(call).request?.(given, soon())
    deepEqual(given, copy)
  },
  'marks with declared words alone': async (fresh) => {
    const { guard, request, answer } = await fresh()
    const watch = guard.begin(call)
    const { marks = [] } = await asked(watch, request.text)
    const text = watch.answer?.() ?? null
    const told =
      text === null ? [] : [await text.take(answer.text), await text.end()].flatMap((piece) => piece.marks ?? [])
    for (const mark of [...marks, ...told]) ok(guard.marks.includes(mark))
  },
  'does to an answer what it is for, wherever its pieces are cut': async (fresh) => {
    const { guard, request, answer } = await fresh()
    const watch = guard.begin(call)
    if (request.becomes !== null) await asked(watch, request.text)
    const { text, becomes } = answer
    for (let cut = 0; cut <= text.length; cut++)
      equal(await heard(watch.answer?.() ?? null, [text.slice(0, cut), text.slice(cut)]), becomes)
    equal(await heard(watch.answer?.() ?? null, [...text]), becomes)
  },
  'lets a harmless piece go on at once': async (fresh) => {
    const { guard, request, harmless } = await fresh()
    const watch = guard.begin(call)
    if (request.becomes !== null) await asked(watch, request.text)
    const text = watch.answer?.() ?? null
    if (text !== null) equal((await text.take(harmless)).text, harmless)
  },
  'keeps calls apart': async (fresh) => {
    const { guard, request, answer, harmless } = await fresh()
    const fit = async (watch: Watch) => heard(watch.answer?.() ?? null, [answer.text])
    const alone = guard.begin(call)
    await asked(alone, harmless)
    const before = await fit(alone)
    await asked(guard.begin(call), request.text)
    const later = guard.begin(call)
    await asked(later, harmless)
    equal(await fit(later), before)
  },
  'stops at once when the signal was aborted before': async (fresh) => {
    const { guard, harmless } = await fresh()
    const { request } = guard.begin(call)
    const reason = new Error('stopped')
    if (request) await rejects(request(said(harmless), AbortSignal.abort(reason)), (error) => error === reason)
  },
} satisfies Contract<TriedGuard>

/** Calls a secret by its number, and says the secret again in the answer. */
const keeper: Guard = {
  name: 'keeper',
  marks: ['secret'],
  begin() {
    const secrets: string[] = []
    return {
      async request(texts, signal) {
        signal.throwIfAborted()
        const hidden = texts.map(({ text }) => text.replace(/<\w+>/g, (match) => `#${secrets.push(match)};`))
        return { texts: hidden, marks: secrets.length > 0 ? ['secret'] : [] }
      },
      answer() {
        let held = ''
        const give = (end: boolean) => {
          const open = end ? -1 : held.search(/#\d*$/)
          const ready = open < 0 ? held : held.slice(0, open)
          held = held.slice(ready.length)
          return { text: ready.replace(/#(\d+);/g, (match, number) => secrets[Number(number) - 1] ?? match) }
        }
        return {
          take(piece) {
            held += piece
            return give(false)
          },
          end: () => give(true),
        }
      },
    }
  },
}

const right = (): TriedGuard => ({
  guard: keeper,
  harmless: 'the ferry leaves ',
  request: { text: 'I am <bob>.', becomes: 'I am #1;.' },
  answer: { text: 'Hello #1;, and #9;', becomes: 'Hello <bob>, and #9;' },
})

const watching = (change: (watch: Watch) => Partial<Watch>) => () => ({
  guard: {
    ...keeper,
    begin: (taken: typeof call) => {
      const watch = keeper.begin(taken)
      return { ...watch, ...change(watch) }
    },
  },
})

const asking = (change: (texts: GuardedText[], done: readonly string[]) => readonly string[]) =>
  watching((watch) => ({
    async request(texts, signal) {
      const done = await watch.request!(texts, signal)
      return { ...done, texts: change(texts as GuardedText[], done.texts) }
    },
  }))

const answering = (change: (text: TextWatch) => TextWatch) =>
  watching((watch) => ({ answer: () => change(watch.answer!()!) }))

export const guard = proof<TriedGuard, typeof contract>({
  contract,
  right,
  wrong: {
    'has a name, and declares its marks': () => ({ guard: { ...keeper, marks: ['<bob>'] } }),
    'does to a request what it is for': asking((texts) => texts.map(({ text }) => text)),
    'gives as many texts as it is given, in their order, and leaves harmless ones alone': asking((_, done) =>
      done.toReversed(),
    ),
    'leaves the list that it is given as it is': asking((texts, done) => {
      texts.pop()
      return done
    }),
    'marks with declared words alone': () => ({ guard: { ...keeper, marks: [] } }),
    'does to an answer what it is for, wherever its pieces are cut': answering(({ take, end }) => ({
      async take(piece) {
        const { text } = await take(piece)
        return { text: text + (await end()).text }
      },
      end: () => ({ text: '' }),
    })),
    'lets a harmless piece go on at once': answering(({ take, end }) => {
      let all = ''
      return {
        take(piece) {
          all += piece
          return { text: '' }
        },
        async end() {
          const { text } = await take(all)
          return { text: text + (await end()).text }
        },
      }
    }),
    'keeps calls apart': () => {
      const only = keeper.begin(call)
      return { guard: { ...keeper, begin: () => only } }
    },
    'stops at once when the signal was aborted before': watching((watch) => ({
      request: (texts) => watch.request!(texts, soon()),
    })),
  },
})
