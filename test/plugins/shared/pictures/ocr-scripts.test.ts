import '../../../fakes/unwatched.ts'
import t from 'tap'
import { chosenFor } from '../../../../plugins/shared/pictures/ocr-scripts.ts'

const chosen = (script: string | null, ...installed: readonly string[]) =>
  chosenFor(script, async (language) => installed.includes(language))

t.test('a script is read in its installed languages, three at most, beside English', async (t) => {
  t.same(await chosen('Cyrillic', 'eng', 'ukr', 'deu'), { languages: ['ukr'], missing: null })
  t.same(await chosen('Latin', 'eng', 'deu', 'fra', 'rus'), { languages: ['deu', 'fra'], missing: null })
  t.same(
    (await chosen('Cyrillic', 'kaz', 'bel', 'srp', 'bul', 'rus')).languages,
    ['rus', 'bul', 'srp'],
    'the widespread ones first',
  )
})

t.test('a script without an installed language says what to install', async (t) => {
  t.same(await chosen('Japanese', 'eng', 'chi_sim'), {
    languages: [],
    missing: { script: 'Japanese', language: 'jpn', command: 'sealgate add ocr jpn' },
  })
})

t.test('an unknown or unclear script needs nothing', async (t) => {
  for (const script of [null, 'Runic', 'constructor'])
    t.same(await chosen(script, 'eng'), { languages: [], missing: null }, `${script}`)
})
