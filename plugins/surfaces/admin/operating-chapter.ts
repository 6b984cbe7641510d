import { chapterOf, under } from '../shared/written-chapter.ts'
import written from './operating-chapter.json' with { type: 'json' }

const { figures, incident, shown, secret } = written.samples
const { operations, figureWords, settingWords } = written

const at = 1893456000000

const traffic = {
  processes: 1,
  step_ms: 60000,
  slots: [{ at, ...figures }],
  sums: [{ name: 'rehearsal', ...figures }],
  marks: [{ at, what: 'reload' }],
  incidents: [incident],
}

const path = ['routing', 'retries']

const configuration = {
  file: 'sealgate.jsonc',
  read_at: at,
  settings: [{ path, ...shown }, secret],
  settings_left_out: 0,
  faults: [],
  changes: [{ path, change: 'changed', before: shown, after: { ...shown, value: 3 }, restart: false }],
  changes_left_out: 0,
}

/** The chapter for operators at work: what runs now, and what a backend does. */
export const operating = chapterOf(written, {
  'GET /admin/traffic': {
    words: { ...operations['GET /admin/traffic'].words, ...under(['slots', 'sums'], figureWords) },
    enveloped: { data: traffic },
  },
  'GET /admin/configuration': {
    words: {
      ...operations['GET /admin/configuration'].words,
      ...under(['settings', 'before', 'after'], settingWords),
    },
    enveloped: { data: configuration },
  },
  'POST /admin/configuration/try': {
    words: { ...operations['POST /admin/configuration/try'].words, ...under(['before', 'after'], settingWords) },
  },
})
