import fc from 'fast-check'

const png = 'data:image/png;base64,AA=='
const mp4 = 'data:video/mp4;base64,AA=='

/** Words that mean something in a body of a decision, elsewhere. */
const words = ['', 'sure', 'chatty', 'mind', 'choice', 'noul', 'score', png, mp4]
const numbers = [0, 1, 2, 33, -1, 1.5, 1e308]

/** Values that a member of a body may hold by mistake. */
export const oddValues = fc.oneof(
  { depthSize: 'small' },
  fc.constantFrom<unknown>(null, true, ...numbers, ...words, [], {}, [png], [mp4], [[]]),
  fc.jsonValue({ maxDepth: 2 }),
)

/** Members of a body with these names, each of which may hold any of those values. */
export const oddMembers = (...names: readonly string[]): Readonly<Record<string, fc.Arbitrary<unknown>>> =>
  Object.fromEntries(names.map((name) => [name, oddValues]))

/** Names of members that mean something to JavaScript, and any others. */
export const oddNames = fc.oneof(
  fc.constantFrom('10', '2', '__proto__', 'constructor', 'toString', '', 'a.b'),
  fc.string({ maxLength: 6 }),
)

/** Objects of up to so many members, in an order of their own. */
export const mapsOf = (of: fc.Arbitrary<unknown>, most: number, names: fc.Arbitrary<string> = oddNames, least = 0) =>
  fc
    .uniqueArray(fc.tuple(names, of), { minLength: least, maxLength: most, selector: ([name]) => name })
    .map((pairs) => new Map(pairs))
