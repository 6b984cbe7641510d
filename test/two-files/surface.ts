/** The two files of a new surface, by their paths. */
export const surface: Readonly<Record<string, string>> = {
  'plugins/surfaces/semaphore.ts': `import * as v from 'valibot'
import { json } from '../../core/http/reply.ts'
import { route } from '../../core/http/route.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock } from '../../core/ports/platform.ts'
import { Surface } from '../../core/ports/surface.ts'

const wave = route({
  method: 'POST',
  path: '/semaphore',
  summary: 'Waves a text.',
  access: 'any-key',
  body: { read: 'json', schema: v.object({ text: v.string() }), bytes: 1024 },
  answer: v.object({ flags: v.number(), at: v.number() }),
  needs: { clock: Clock },
  handle: ({ input }, { clock }) => json({ flags: input.text.length, at: clock.now() }),
})

/** Texts by flags. */
export default plugin({
  port: Surface,
  name: 'semaphore',
  create: (): Surface => ({
    name: 'semaphore',
    routes: [wave],
    chapter: async () => ({
      name: 'Semaphore',
      about: 'Texts by flags.',
      words: { text: 'The text.', flags: 'The number of flags.', at: 'The time in ms.' },
      operations: { 'POST /semaphore': { body: { text: 'Hi' }, answer: { flags: 2, at: 1700000000000 } } },
    }),
  }),
})
`,
  'test/plugins/surfaces/semaphore.test.ts': `import t from 'tap'
import { use } from '../../../core/plugin.ts'
import { Surface } from '../../../core/ports/surface.ts'
import semaphore from '../../../plugins/surfaces/semaphore.ts'
import { conform } from '../../contracts/contract.ts'
import { surface } from '../../contracts/surface.ts'
import { fitted } from '../../fitted.ts'

t.test('contract', (t) =>
  conform(t, surface.contract, () => ({
    surface: fitted(use(semaphore)).supply({ surfaces: Surface }).surfaces[0]!,
    open: [],
  })),
)
`,
}
