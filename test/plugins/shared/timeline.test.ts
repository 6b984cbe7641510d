import t from 'tap'
import { type Heard, timelineOf, wordsDuring } from '../../../plugins/shared/sounds/timeline.ts'

/** The same numbers on each run. */
const numbers = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}

const stretches = (count: number, next: (below: number) => number, most: number): readonly Heard[] =>
  Array.from({ length: count }, () => {
    const start = next(100)
    return { start, end: start + next(most) }
  })

const shared = (one: Heard, other: Heard): number => Math.min(one.end, other.end) - Math.max(one.start, other.start)

t.test('turns and words are those that a look at each of them finds', async (t) => {
  let looks = 0
  for (let seed = 1; seed < 200; seed++) {
    const next = numbers(seed)
    const turns = stretches(next(30), next, 1 + next(40))
    const words = stretches(next(60), next, 1 + next(5))
    const { nearest, common } = timelineOf(turns)
    const during = wordsDuring(words)
    for (const stretch of stretches(20, next, 1 + next(30))) {
      const best = turns.reduce<Heard | null>(
        (found, turn) => (found === null || shared(stretch, turn) > shared(stretch, found) ? turn : found),
        null,
      )
      const inCommon = turns.filter((turn) => shared(stretch, turn) > 0)
      const inside = words.filter(
        ({ start, end }) => (start + end) / 2 >= stretch.start && (start + end) / 2 < stretch.end,
      )
      const found = new Map(common(stretch))
      looks++
      if (
        nearest(stretch) !== best ||
        found.size !== inCommon.length ||
        inCommon.some((turn) => found.get(turn) !== shared(stretch, turn)) ||
        during(stretch).some((word, at) => word !== inside[at]) ||
        during(stretch).length !== inside.length
      )
        t.fail('another turn or word', { seed, stretch })
    }
  }
  t.ok(looks > 3_000)
})

t.test('many turns are looked at by few looks', async (t) => {
  let looks = 0
  const turns = Array.from({ length: 10_000 }, (_, start) => ({
    start,
    get end() {
      looks++
      return start + 1
    },
  }))
  const { nearest } = timelineOf(turns)
  looks = 0
  const wrong = turns.filter(({ start }) => nearest({ start, end: start + 0.5 })?.start !== start)
  t.same(wrong, [])
  t.ok(looks < 50_000, `${looks} looks`)
})
