import fc from 'fast-check'
import { type Kind, kinds } from './bodies.ts'
import type { Limits } from './scene.ts'

export interface Begin {
  readonly do: 'begin'
  readonly which: number
  readonly kind: Kind
  readonly count: number
  readonly replica: number
  readonly calm: boolean
  readonly size: number
  readonly most: number
}

export type Operation =
  | Begin
  | {
      readonly do: 'end'
      readonly which: number
      readonly count: number
      readonly input: number
      readonly output: number
    }
  | { readonly do: 'leave'; readonly which: number }
  | { readonly do: 'replay' | 'race' | 'revoke' | 'return' | 'usage'; readonly which: number; readonly replica: number }
  | { readonly do: 'make'; readonly replica: number; readonly limits: Limits }
  | { readonly do: 'change'; readonly which: number; readonly replica: number; readonly to: number }

const any = fc.nat(999)
const replica = fc.nat(2)
const none = fc.constant(null)

const limits: fc.Arbitrary<Limits> = fc.record({
  requestsPerSecond: fc.oneof(
    { weight: 4, arbitrary: none },
    { weight: 1, arbitrary: fc.integer({ min: 3, max: 12 }) },
  ),
  concurrentRequests: fc.oneof(
    { weight: 1, arbitrary: none },
    { weight: 3, arbitrary: fc.integer({ min: 1, max: 5 }) },
  ),
  tokensPerMinute: fc.oneof(
    { weight: 3, arbitrary: none },
    { weight: 1, arbitrary: fc.integer({ min: 300, max: 1500 }) },
  ),
  tokensPerDay: fc.oneof(
    { weight: 3, arbitrary: none },
    { weight: 1, arbitrary: fc.integer({ min: 1000, max: 4000 }) },
  ),
})

const kind = fc.oneof(
  { weight: 4, arbitrary: fc.constant(kinds[0]) },
  { weight: 4, arbitrary: fc.constant(kinds[1]) },
  { weight: 3, arbitrary: fc.constant(kinds[2]) },
  { weight: 1, arbitrary: fc.constant(kinds[3]) },
  { weight: 2, arbitrary: fc.constant(kinds[4]) },
)

const begins = fc.record({
  do: fc.constant('begin' as const),
  which: any,
  kind,
  count: fc.integer({ min: 1, max: 8 }),
  replica,
  calm: fc.oneof({ weight: 2, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  size: fc.nat(400),
  most: fc.integer({ min: 1, max: 300 }),
})

const at = (name: 'replay' | 'race' | 'revoke' | 'return' | 'usage') =>
  fc.record({ do: fc.constant(name), which: any, replica })

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 20, arbitrary: begins },
  {
    weight: 20,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      which: any,
      count: fc.integer({ min: 1, max: 4 }),
      input: fc.nat(200),
      output: fc.nat(400),
    }),
  },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('leave' as const), which: any }) },
  { weight: 2, arbitrary: at('replay') },
  { weight: 1, arbitrary: at('race') },
  { weight: 1, arbitrary: at('revoke') },
  { weight: 2, arbitrary: at('return') },
  { weight: 1, arbitrary: at('usage') },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('make' as const), replica, limits }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('change' as const),
      which: any,
      replica,
      to: fc.integer({ min: 1, max: 6 }),
    }),
  },
)

export interface Sequence {
  readonly keys: readonly Limits[]
  readonly operations: readonly Operation[]
}

export const sequences = (length: number): fc.Arbitrary<Sequence> =>
  fc.record({
    keys: fc.array(limits, { minLength: 1, maxLength: 2 }),
    operations: fc.array(operation, { minLength: 5, maxLength: length, size: 'max' }),
  })
