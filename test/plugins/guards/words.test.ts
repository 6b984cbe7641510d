import t from 'tap'
import { Container } from '../../../core/container.ts'
import { use } from '../../../core/plugin.ts'
import { Guard } from '../../../core/ports/guard.ts'
import words from '../../../plugins/guards/words.ts'
import { conform } from '../../contracts/contract.ts'
import { guard as contract } from '../../contracts/guard.ts'
import { chance } from '../../lab/hunt/damage.ts'
import { bookedWork } from './booked-work.ts'

const guardOf = (settings: object): Guard => {
  const container = new Container()
  container.fit(use(words, settings as never))
  return container.supply({ guards: Guard }).guards[0]!
}

const call = { model: 'small', organization: null }
const soon = () => AbortSignal.timeout(60_000)
const asked = (guard: Guard, text: string) => guard.begin(call).request!([{ role: 'user', text }], soon())

t.test('keeps the contract, refusing', (t) =>
  conform(t, contract.contract, () => ({
    guard: guardOf({ lists: { projects: { words: ['Blue Heron'] } } }),
    harmless: 'the ferry leaves ',
    request: { text: 'What is blue\n heron?', becomes: null },
    answer: { text: 'It is BLUE HERON!', becomes: null },
  })),
)

t.test('keeps the contract, replacing', (t) =>
  conform(t, contract.contract, () => ({
    guard: guardOf({ lists: { names: { words: ['heron', 'heron bay', '鷺'], then: 'replace' } }, by: '[name]' }),
    harmless: 'the ferry leaves ',
    request: { text: 'herons, heron  bay', becomes: 'herons, [name]' },
    answer: { text: 'xheron heron heron bayou 白鷺湖 heron', becomes: 'xheron [name] [name] bayou 白[name]湖 [name]' },
  })),
)

t.test('keeps the contract, restoring', (t) =>
  conform(t, contract.contract, () => ({
    guard: guardOf({ lists: { heron: { words: ['blue heron', 'heron'], then: 'replace' } }, restore: true }),
    harmless: 'the ferry leaves ',
    request: { text: 'To Blue  Heron', becomes: 'To [HERON_1]' },
    answer: {
      text: 'From [HERON_1], no heron, [HERON_2] or [HERON',
      becomes: 'From Blue  Heron, no ***, [***_2] or [***',
    },
  })),
)

t.test('a word is found however its accents are spelled', async (t) => {
  for (const form of ['NFC', 'NFD'] as const) {
    const words = ['Müller', 'blé'].map((word) => word.normalize(form))
    const guard = guardOf({ lists: { names: { words, then: 'replace' } } })
    for (const text of ['An MÜLLER: blé, blés.', 'An MÜLLER: blé, blés.'.normalize('NFD')]) {
      const { texts } = await asked(guard, text)
      t.equal(texts[0]!.normalize('NFC'), 'An ***: ***, blés.')
      const watch = guard.begin(call).answer!()!
      let passed = ''
      for (const mark of text) passed += (await watch.take(mark)).text
      t.equal((passed + (await watch.end()).text).normalize('NFC'), 'An ***: ***, blés.')
    }
  }
})

t.test('words of a request come back, each as it was written', async (t) => {
  const lists = {
    places: { words: ['lima', 'quito'], then: 'replace', where: 'requests' },
    // It finds its word in the placeholders of the list before.
    things: { words: ['places'], then: 'replace', where: 'requests' },
  }
  const watch = guardOf({ lists, restore: true }).begin(call)
  const texts = ['[PLACES_1] and LIMA, Lima, quito', 'Lima in places'].map((text) => ({ role: 'user', text }))
  const { texts: hidden, marks } = await watch.request!(texts, soon())
  t.notMatch(hidden.join(), /lima|quito/i)
  t.same(marks, ['places', 'things'])
  for (const size of [1, 3, 1_000]) {
    const answer = watch.answer!()!
    let told = ''
    const cut = hidden.join('\n').match(new RegExp(`[^]{1,${size}}`, 'g'))!
    for (const piece of cut) told += (await answer.take(piece)).text
    t.equal(told + (await answer.end()).text, texts.map(({ text }) => text).join('\n'), `pieces of ${size}`)
  }
  const other = guardOf({ lists, restore: true }).begin(call)
  t.equal(other.answer!(), null, 'another call knows nothing of them')
})

t.test('marks without a change, and looks where it is told to look', async (t) => {
  const guard = guardOf({
    lists: {
      asked: { words: ['one'], then: 'mark', where: 'requests' },
      told: { words: ['two'], then: 'mark', where: 'answers' },
      none: { words: ['three'], then: 'mark' },
    },
  })
  const { texts, marks, refuses } = await asked(guard, 'One, two')
  t.same([texts, marks, refuses], [['One, two'], ['asked'], false])
  const watch = guard.begin(call).answer!()!
  t.same(await watch.take('one two '), { text: 'one two ', refuses: false, marks: ['told'] })
  t.equal(guardOf({ lists: { asked: { words: ['one'], where: 'requests' } } }).begin(call).answer!(), null)
})

t.test('signs in words are signs', async (t) => {
  const guard = guardOf({
    lists: { odd: { words: ['a.b*', '(c)', '[d]-e', 'f/g', '^h$', 'x|y', 'C++'], then: 'replace' } },
  })
  const text = 'a.b* (c) [d]-e f/g ^h$ x|y c++'
  t.equal((await asked(guard, text)).texts[0], '*** *** *** *** *** *** ***')
  t.equal((await asked(guard, 'aXb cc d xy')).texts[0], 'aXb cc d xy')
})

t.test('many words take no more time than few, and give the same whole and cut', async (t) => {
  const number = chance(3)
  const one = (of: readonly string[]): string => of[number(of.length)]!
  const word = () => Array.from({ length: 2 + number(4) }, () => one(['a', 'b', 'ä', ' ', '鷺'])).join('')
  const list = Array.from({ length: 2_000 }, () => word().trim() || 'a')
  const guard = guardOf({ lists: { many: { words: list, then: 'replace' } }, by: '_' })
  const watch = guard.begin(call)
  for (let round = 0; round < 200; round++) {
    const text = Array.from({ length: 30 }, () => one(['a', 'B', 'ä', ' ', '鷺', '\n', 'x'])).join('')
    const heard = async (pieces: readonly string[]) => {
      const watched = watch.answer!()!
      let output = ''
      for (const piece of pieces) output += (await watched.take(piece)).text
      return output + (await watched.end()).text
    }
    const whole = await heard([text])
    const cut = await heard(text.split(/(?<=x)|(?= )|(?<=ä)/u))
    if (cut !== whole || (await heard([...text])) !== whole) return t.fail(JSON.stringify({ text, whole, cut }))
  }
  t.pass('all the same')
})

t.test('settings that say nothing are refused', async (t) => {
  t.throws(() => use(words, { lists: { empty: { words: [] } } }), /lists\.empty\.words/)
  t.throws(() => use(words, { lists: { 'A B': { words: ['x'] } } }))
})

t.test('the work on a text is booked to the caller, by its length', async (t) => {
  const { pace, ns } = bookedWork()
  const guard = guardOf({ lists: { birds: { words: ['heron'] } } })
  await guard.begin({ ...call, pace }).request!([{ role: 'user', text: 'a'.repeat(1_000_000) }], soon())
  t.ok(ns() >= 50e6, `${ns()} ns`)
})
