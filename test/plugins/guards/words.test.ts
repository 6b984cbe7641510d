import t from 'tap'
import { Container } from '../../../core/container.ts'
import { use } from '../../../core/plugin.ts'
import { Guard } from '../../../core/ports/guard.ts'
import words from '../../../plugins/guards/words.ts'
import { conform } from '../../contracts/contract.ts'
import { guard as contract } from '../../contracts/guard.ts'
import { chance } from '../../lab/hunt/damage.ts'

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
      const it = watch.answer!()!
      let said = ''
      for (const piece of pieces) said += (await it.take(piece)).text
      return said + (await it.end()).text
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
