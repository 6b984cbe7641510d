import '../../fakes/unwatched.ts'
import t from 'tap'
import * as v from 'valibot'
import { BadRequest } from '../../../core/errors.ts'
import slidesReader from '../../../plugins/readers/slides.ts'
import getPowerPointContent from '../../../plugins/tools/getPowerPointContent.ts'
import { conform } from '../../contracts/contract.ts'
import { tool } from '../../contracts/tool.ts'
import { bytesOf, madeOf, opened, params, toolOf } from './tried.ts'

const made = () => toolOf(slidesReader, getPowerPointContent)
const file = (bytes: Uint8Array) => opened(bytes, 'orchard')
const deck = file(await bytesOf('pptx/orchard.pptx'))

t.test('contract', (t) =>
  conform(t, tool.contract, () => ({
    tool: made(),
    good: { params: { ...params, slideNumbers: [1] }, file: deck },
    bad: { params, file: file(deck.bytes.subarray(0, 9_000)) },
  })),
)

const run = (more: object, given = deck) => madeOf(made(), given, more)

const slides = [
  {
    number: 1,
    title: 'Der Obstgarten',
    text: '- Bäume pflanzen\n  - im Herbst\n- Bäume schneiden',
    notes: 'Zuerst die Gäste begrüßen.',
    hidden: false,
  },
  {
    number: 2,
    title: 'Erträge',
    text: 'Sorte | Tonnen\nBoskoop | 12,5\nIn der Gruppe\nEin Pfeil',
    notes: null,
    hidden: false,
  },
  { number: 3, title: 'Versteckt', text: '', notes: null, hidden: true },
  { number: 4, title: null, text: 'Ohne Titel, mit Verweis', notes: null, hidden: false },
]

t.test('gives all slides, or those that are asked for', async (t) => {
  const link = { url: 'https://example.com/', text: 'Verweis', at: 'slide 4' as string | null }
  t.same(await run({}), { slideCount: 4, slides, missing: [], truncated: false, links: [link] }, 'all of them')
  t.same(
    await run({ slideNumbers: [9, 2, 2] }),
    { slideCount: 4, slides: [slides[1]], missing: [9], truncated: false, links: [link] },
    'one of them, and one that is not there',
  )
  const odp = file(await bytesOf('odp/orchard.odp'))
  const links = [{ ...link, at: null }]
  t.same(await run({}, odp), { slideCount: 4, slides, missing: [], truncated: false, links }, 'odp')
})

t.test('takes numbers of slides alone', async (t) => {
  for (const slideNumbers of [[0], [1.5], ['1'], 1])
    t.notOk(v.safeParse(made().params, { fileId: 'a', slideNumbers }).success, JSON.stringify(slideNumbers))
})

t.test('gives a stretch of the slides, and an outline of too many', async (t) => {
  const numbers = async (params: object) =>
    ((await run(params)) as { slides: { number: number }[] }).slides.map(({ number }) => number)
  t.same(await numbers({ from: 3 }), [3, 4])
  t.same(await numbers({ from: 2, to: 3 }), [2, 3])
  t.same(await numbers({ to: 3, slideNumbers: [1, 4] }), [1], 'both hold')
  await t.rejects(run({ from: 3, to: 2 }), BadRequest)
  const pages = Array.from({ length: 3 }, (_, at) => ({ number: at + 1, title: `T${at}`, text: 'x'.repeat(200_000), notes: null, hidden: false })) // prettier-ignore
  const reader = { name: 'deck', kind: 'slides' as const, fits: () => true, read: async () => ({ content: { slides: pages, truncated: false }, sections: [] }) } // prettier-ignore
  const tool = getPowerPointContent.create({ readers: [reader] }, {}, 'getPowerPointContent')
  if (tool.kind !== 'reads-file') throw new Error('is a reader of files')
  const told = (params: object) => tool.run({ fileId: 'a', ...params }, AbortSignal.timeout(20_000), deck)
  t.match(await told({}), { truncated: true, outline: [{ number: 1, title: 'T0', characters: 200_002 }, {}, { number: 3 }] }) // prettier-ignore
  t.notOk('outline' in ((await told({ from: 3 })) as object))
})
