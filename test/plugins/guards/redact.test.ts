import t from 'tap'
import { Container } from '../../../core/container.ts'
import { loopTime, usualTime } from '../../../core/dialects/loop-time.ts'
import { use } from '../../../core/plugin.ts'
import { Guard } from '../../../core/ports/guard.ts'
import redact from '../../../plugins/guards/redact.ts'
import { piecewise } from '../../../plugins/guards/shared/piecewise.ts'
import { conform } from '../../contracts/contract.ts'
import { guard as contract } from '../../contracts/guard.ts'
import { chance } from '../../lab/hunt/damage.ts'
import { slowness } from '../../slowness.ts'
import { turnsDuring } from '../../turns-during.ts'
import { bookedWork } from './booked-work.ts'

const guardOf = (settings: Parameters<typeof use<Guard, {}, NonNullable<typeof redact.settings>>>[1] = {}): Guard => {
  const container = new Container()
  container.fit(use(redact, settings))
  return container.supply({ guards: Guard }).guards[0]!
}

const call = { model: 'small', organization: 'acme' }
const soon = () => AbortSignal.timeout(60_000)
const said = (...texts: readonly string[]) => texts.map((text) => ({ role: 'user', text }))
const redacted = async (text: string, settings = {}) =>
  (await guardOf(settings).begin(call).request!(said(text), soon())).texts[0]!

/** What an answer becomes that comes in pieces of so many characters. */
const heardIn = async (length: number, text: string): Promise<string> => {
  const watch = guardOf({ answers: true }).begin(call).answer!()!
  let all = ''
  for (let at = 0; at < text.length; at += length) all += (await watch.take(text.slice(at, at + length))).text
  return all + (await watch.end()).text
}

t.test('keeps the contract, restoring', (t) =>
  conform(t, contract.contract, () => ({
    guard: guardOf({ restore: true }),
    harmless: 'the ferry leaves at noon, ',
    request: { text: 'I am bob@example.org', becomes: 'I am [EMAIL_1]' },
    answer: { text: 'Hello [EMAIL_1], not [EMAIL_2] or [X', becomes: 'Hello bob@example.org, not [EMAIL_2] or [X' },
  })),
)

t.test('keeps the contract, reading answers', (t) =>
  conform(t, contract.contract, () => ({
    guard: guardOf({ answers: true }),
    harmless: 'the ferry leaves ',
    request: { text: 'Pay 4111 1111 1111 1111 now', becomes: 'Pay [CARD_1] now' },
    answer: {
      text: 'x 5555-5555-5555-4444 7 DE89 3704 0044 0532 0130 00, fe80::1. ann@example.org',
      becomes: 'x [CARD_2] 7 [IBAN_1], [IP_1]. [EMAIL_1]',
    },
  })),
)

t.test('finds values, and only those', async (t) => {
  const token = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${'s'.repeat(43)}`
  const pem = `-----BEGIN RSA PRIVATE KEY-----\n${'MIIEow'.repeat(200)}\n-----END RSA PRIVATE KEY-----`
  const cases: readonly (readonly [string, string])[] = [
    ['card 4111111111111111.', 'card [CARD_1].'],
    ['4012 8888 8888 1881 and 4012 8888 8888 1881', '[CARD_1] and [CARD_1]'],
    ['room 12 4111 1111 1111 1111 9', 'room 12 [CARD_1] 9'],
    ['card 4111111111111112', 'card 4111111111111112'],
    ['0.4111111111111111', '0.4111111111111111'],
    ['at 1763849000007 ms', 'at 1763849000007 ms'],
    ['id 41111111111111110000000', 'id 41111111111111110000000'],
    ['GB82 WEST 1234 5698 7654 32 please', '[IBAN_1] please'],
    ['de89370400440532013000', '[IBAN_1]'],
    ['DE87370400440532013000', 'DE87370400440532013000'],
    ['DE893704004405320130001', 'DE893704004405320130001'],
    [`use sk-proj-${'a1'.repeat(20)}!`, 'use [KEY_1]!'],
    [`ghp_${'A1'.repeat(18)}, AKIAIOSFODNN7EXAMPLE`, '[KEY_1], [KEY_2]'],
    [`bearer ${token}`, 'bearer [KEY_1]'],
    [`here:\n${pem}\nthere`, 'here:\n[KEY_1]\nthere'],
    [`sk-${'a'.repeat(20)}@b.cc`, '[EMAIL_1]'],
    ['mail ann.b+c@mail.example.co.uk, now', 'mail [EMAIL_1], now'],
    ['a@b and @home', 'a@b and @home'],
    ['10.0.0.1 and 2001:db8::8a2e:370:7334', '[IP_1] and [IP_2]'],
    ['at 12:30:45, v1.2.3, 1.2.3.4.5, std::vector', 'at 12:30:45, v1.2.3, 1.2.3.4.5, std::vector'],
    ['256.1.1.1 999.1.1.1', '256.1.1.1 999.1.1.1'],
  ]
  for (const [text, becomes] of cases) t.equal(await redacted(text), becomes, text.slice(0, 60))
  t.equal(await redacted('a@example.org 10.0.0.1', { kinds: ['ip'] }), 'a@example.org [IP_1]')
})

t.test('a placeholder of the caller stands for itself', async (t) => {
  const watch = guardOf({ restore: true }).begin(call)
  const { texts, marks } = await watch.request!(said('[EMAIL_1] is ann@example.org', 'ann@example.org'), soon())
  t.same(texts, ['[EMAIL_1] is [EMAIL_2]', '[EMAIL_2]'])
  t.same(marks, ['email'])
  const text = watch.answer!()!
  t.equal((await text.take('[EMAIL_1], [EMAIL_2] ')).text, '[EMAIL_1], ann@example.org ')
})

t.test('a conversation that grows keeps the placeholders of its beginning', async (t) => {
  const turns = ['ann@example.org', 'bob@example.org or 10.0.0.1', 'ann@example.org again', 'eve@example.org']
  const all = await Promise.all(
    turns.map(async (_, at) => (await guardOf().begin(call).request!(said(...turns.slice(0, at + 1)), soon())).texts),
  )
  for (const texts of all) t.same(texts, all.at(-1)!.slice(0, texts.length))
})

t.test('an answer without a placeholder to restore is not watched', async (t) => {
  const watch = guardOf({ restore: true }).begin(call)
  await watch.request!(said('nothing here'), soon())
  t.equal(watch.answer!(), null)
  t.equal(guardOf().begin(call).answer!(), null)
})

t.test('many beginnings of keys, and many keys over each other, take no longer than their text', async (t) => {
  const cut = 'sk-aaaaaaaaaaaaaaaa-----BEGIN PRIVATE KEY-----x-----END PRIVATE KEY-----'
  for (const [unit, becomes] of [
    ['-----BEGIN PRIVATE KEY-----\n', '-----BEGIN PRIVATE KEY-----\n'],
    [cut, '[KEY_1] PRIVATE KEY-----x-----END PRIVATE KEY-----'],
  ] as const) {
    const text = unit.repeat(1_100_000 / unit.length)
    const began = process.cpuUsage()
    t.equal((await heardIn(text.length, text)).slice(0, becomes.length), becomes)
    const { user } = process.cpuUsage(began)
    t.ok(user < 400_000 * slowness(), `${user} µs`)
  }
})

t.test('a private key of its greatest length is found however it is cut, and a longer one is none', async (t) => {
  const keyOf = (length: number) =>
    `so -----BEGIN PRIVATE KEY-----${'k9+/'.repeat(4_096)}${'='.repeat(length - 16_384)}-----END PRIVATE KEY----- so`
  const longer = keyOf(16_385)
  for (const length of [1, 700, 16_384, 20_000]) {
    t.equal(await heardIn(length, keyOf(16_384)), 'so [KEY_1] so', `in pieces of ${length}`)
    t.equal(await heardIn(length, longer), longer, `in pieces of ${length}`)
  }
})

t.test('a text that is held back is looked at seldom, and in whole in the end', (t) => {
  let looks = 0
  const pieces = piecewise({ undecided: () => (looks++, 0), find: () => [] })
  let early = ''
  for (let at = 0; at < 17_000; at++) early += pieces.take('a')
  t.equal(early, '')
  t.ok(looks < 1_200, `${looks} looks at 17,000 pieces`)
  t.equal(pieces.end().length, 17_000)
  t.end()
})

t.test('texts cut anywhere give what the whole text gives', async (t) => {
  const number = chance(7)
  const one = (of: readonly string[]): string => of[number(of.length)]!
  const words = [
    ...['4111 1111 1111 1111', '5555555555554444', 'DE89 3704 0044 0532 0130 00', 'ann@example.org', '10.1.2.3'],
    ...[
      'fe80::1',
      `sk-${'k9'.repeat(12)}`,
      'ferry',
      'x',
      '12',
      '7777',
      'DE89',
      'at',
      '[EMAIL_1]',
      '[',
      '漢字',
      '-----BEGIN',
    ],
    ...['-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----', '1.2.3', 'ab12 cd'],
  ]
  const blanks = [' ', ' ', '\n', ', ', '-', '', ': ', '/', '.']
  for (let round = 0; round < 400; round++) {
    const text = Array.from({ length: 8 }, () => one(words) + one(blanks)).join('')
    const heard = async (pieces: readonly string[]) => {
      const watch = guardOf({ answers: true, restore: true }).begin(call)
      await watch.request!(said('eve@example.org'), soon())
      const watched = watch.answer!()!
      let said_ = ''
      for (const piece of pieces) said_ += (await watched.take(piece)).text
      return said_ + (await watched.end()).text
    }
    const pieces: string[] = []
    for (let at = 0; at < text.length;) {
      const end = at + 1 + number(9)
      pieces.push(text.slice(at, end))
      at = end
    }
    const whole = await heard([text])
    if ((await heard(pieces)) !== whole || (await heard([...text].flatMap((text) => text.split('')))) !== whole)
      return t.fail(JSON.stringify({ text, pieces, whole, cut: await heard(pieces) }))
  }
  t.pass('all the same')
})

t.test('many short texts take turns of the loop, and few take none', async (t) => {
  const guarding = (texts: number) => async () =>
    guardOf().begin(call).request!(said(...Array<string>(texts).fill('a')), soon())
  const [few, many] = [await turnsDuring(guarding(20)), await turnsDuring(guarding(5_000))]
  t.ok(few <= 1, `${few} turns of few`)
  t.ok(many > 20, `${many} turns of many`)
})

t.test('the work on a text is booked to the caller, by its length', async (t) => {
  const { pace, ns } = bookedWork()
  await guardOf({ restore: true }).begin({ ...call, pace }).request!(said('a'.repeat(1_000_000)), soon())
  t.ok(ns() >= 50e6, `${ns()} ns`)
})

t.test('a text waits for few turns of the loop beside many long texts of another organisation', async (t) => {
  const paces = loopTime({ now: Date.now })
  const searched = (organization: string, text: string, signal: AbortSignal) =>
    guardOf().begin({ ...call, pace: paces({ organization, key: organization }, usualTime) }).request!(
      said(text),
      signal,
    )
  const leaving = new AbortController()
  const others = Array.from({ length: 16 }, () => searched('loud', 'a'.repeat(1_000_000), leaving.signal))
  const ended = Promise.allSettled(others)
  const turns = await turnsDuring(() => searched('quiet', 'a'.repeat(64 * 1024), soon()))
  t.ok(turns <= 16, `${turns} turns`)
  leaving.abort()
  await ended
})

t.test('a request that was given up is searched no further', async (t) => {
  const given = new AbortController()
  const searched = guardOf().begin(call).request!(said(...Array<string>(5_000).fill('a')), given.signal)
  given.abort(new Error('given up'))
  await t.rejects(searched, { message: 'given up' })
})

t.test('long texts take turns, and time that grows with them alone', async (t) => {
  let turns = 0
  const tick = setInterval(() => turns++, 0)
  const long = `${'a'.repeat(300_000)} ${'1 '.repeat(100_000)}${'[[['.repeat(50_000)} ann@example.org`
  const text = await redacted(long)
  clearInterval(tick)
  t.ok(text.endsWith(' [EMAIL_1]'))
  t.ok(turns > 0, 'others had their turn')
})

t.test('no text makes the search take more than its length', { timeout: 120_000 }, async (t) => {
  const length = 200_000
  const units = [
    'a@',
    'a@a.',
    'a.a',
    '4',
    '4 ',
    '4111-',
    'DE89 ',
    'DE',
    '1.',
    '1.1.1.',
    'f:',
    '::',
    'fe80::',
    'sk_',
    'sk-a',
    '[',
    '[EMAIL_',
    '_',
    'A1',
    '-eyJ',
    // Values that lie over each other.
    'a@1.2.3.4.cc ',
    'sk-aaaaaaaaaaaaaaaaaaaa@b.cc ',
    'sk-aaaaaaaaaaaaaaaa-----BEGIN PRIVATE KEY-----x-----END PRIVATE KEY-----',
  ]
  const costOf = async (unit: string, length: number): Promise<number> => {
    const text = `${unit.repeat(Math.ceil(length / unit.length))}!`
    const before = process.cpuUsage()
    await redacted(text, { restore: true })
    await heardIn(text.length, text)
    return process.cpuUsage(before).user
  }
  for (const unit of units) {
    const [quarter, whole] = [await costOf(unit, length / 4), await costOf(unit, length)]
    // A search that takes the square of the length would take sixteen times as long.
    t.ok(whole < 8 * quarter + 200_000, `${length} times ${unit}: ${whole} µs, a quarter of it ${quarter} µs`)
    t.ok(whole < 6_000_000, `${length} times ${unit}: ${whole} µs`)
  }
})
