import type { Changes } from './mutation.ts'

const browser = 'test/console-browser.test.ts'
const server = 'test/console.test.ts'
const parts = 'test/plugins/surfaces/console/browser.test.ts'
const deciding = 'test/plugins/surfaces/console/decisions.test.ts'
const decisionPage = 'test/console-decisions.test.ts'

export const consoles: readonly Changes[] = [
  {
    file: 'plugins/surfaces/console/headers.ts',
    test: server,
    changes: [
      { breaks: 'No text becomes a script.', from: `  "require-trusted-types-for 'script'",\n`, to: '' },
      { breaks: 'No page frames the console.', from: `  "frame-ancestors 'none'",\n`, to: '' },
      {
        breaks: 'A page that opens the console does not hold it.',
        from: `  'cross-origin-opener-policy': 'same-origin',\n`,
        to: '',
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/routes.ts',
    test: server,
    changes: [
      {
        breaks: 'A file of another release is not served as one of this one.',
        from: 'release === hash ? files.get(name) : undefined',
        to: 'files.get(name)',
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser/csv.ts',
    test: parts,
    changes: [
      { breaks: 'A spreadsheet runs no cell.', from: 'formula.test(it) ?', to: 'false ?' },
      {
        breaks: 'An unknown number is an empty cell.',
        from: `if (it === null) return ''`,
        to: `if (it === null) return '0'`,
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser/sums.ts',
    test: parts,
    changes: [
      {
        breaks: 'A sum without a price has no cost.',
        from: 'row.cost === null ? sum.cost :',
        to: 'row.cost === null ? (sum.cost ?? 0) :',
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser/traffic.ts',
    test: parts,
    changes: [
      { breaks: 'The console is no traffic.', from: '/^GET \\/(?:health|metrics|console', to: '/^GET \\/(?:health' },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser/session.ts',
    test: browser,
    changes: [
      {
        breaks: 'A key is kept only where its reader asks for that.',
        from: 'if (keep) storage.setItem(slot, given.credential)',
        to: 'if (keep || given) storage.setItem(slot, given.credential)',
      },
      {
        breaks: 'Signing out forgets the key.',
        from: '      pass = null\n      storage.removeItem(slot)',
        to: '      pass = null',
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser/key-acts.ts',
    test: browser,
    changes: [{ breaks: 'The old key ends after a rotation.', from: '{ expires_at: until }', to: '{ name }' }],
  },
  {
    file: 'plugins/surfaces/console/browser/sight.ts',
    test: deciding,
    changes: [
      {
        breaks: 'The console grants a key what the gateway grants it.',
        from: " || (scope === 'models.read' && scopes.length > 0)",
        to: '',
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser/csv.ts',
    test: deciding,
    changes: [
      {
        breaks: 'A quoted cell without its end is no CSV.',
        from: 'if (quote < 0) return null',
        to: "if (quote < 0) return { cell: '', next: text.length }",
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser/decision-draft.ts',
    test: deciding,
    changes: [
      {
        breaks: 'Labels stand where the reader put them.',
        from: 'objectOf(options.map(({ label, meaning }) => [label, wordsOf(meaning)]))',
        to: 'JSON.stringify(Object.fromEntries(options.map(({ label, meaning }) => [label, meaning || null])))',
      },
      {
        breaks: 'A line end inside a text stays what it is.',
        from: ".split('\\n')\n    .map((line) => `  ${line}`)\n    .join('\\n')",
        to: ".replace(/^/gm, '  ')",
      },
      { breaks: 'A label stands there once.', from: 'isRepeated(labelsOf(question))', to: 'false' },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser/decision-code.ts',
    test: deciding,
    changes: [
      {
        breaks: 'No state ends the text of a JavaScript snippet.',
        from: ".replaceAll('`', '\\\\u0060')",
        to: '',
      },
      {
        breaks: 'No state ends the text of a Python snippet.',
        from: ".replaceAll(`'''`, '\\\\u0027\\\\u0027\\\\u0027')",
        to: '',
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser/decision-answers.ts',
    test: deciding,
    changes: [
      {
        breaks: 'A cost is unknown where a larger model answered too.',
        from: 'listed === undefined || isEscalated(decided) ?',
        to: 'listed === undefined ?',
      },
      {
        breaks: 'An answer without a label is none.',
        from: '|| !probabilities.every((it) => it !== undefined)',
        to: '',
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser/prices.ts',
    test: deciding,
    changes: [
      {
        breaks: 'A cost is unknown without a price that it needs.',
        from: ' || (output > 0 && completion === null)',
        to: '',
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser/labelled-cases.ts',
    test: deciding,
    changes: [
      {
        breaks: 'A row with another answer is refused.',
        from: 'if (truth < 0) throw',
        to: 'if (truth < -1) throw',
      },
      { breaks: 'A file has so many cases at most.', from: 'cases.size > mostCases', to: 'cases.size < 0' },
      {
        breaks: 'A case is asked once.',
        from: 'JSON.stringify([state, answer])',
        to: 'JSON.stringify([at, state, answer])',
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser/case-run.ts',
    test: deciding,
    changes: [
      {
        breaks: 'A refusal that does not pass ends the run.',
        from: 'if (!mayPass(error)) throw error',
        to: 'if (!(error instanceof Refused)) throw error',
      },
      { breaks: 'Cases without an answer end the run.', from: '++row >= mostUnanswered', to: '++row < 0' },
      { breaks: 'A key keeps a place of its own.', from: 'const lanes = 3', to: 'const lanes = 30' },
      {
        breaks: 'A run that is stopped asks nothing more.',
        from: 'if (signal.aborted) return\n      if (decided',
        to: 'if (decided',
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser/decision-cases.ts',
    test: decisionPage,
    changes: [
      {
        breaks: 'A threshold that was found goes into the configuration.',
        from: 'bench.found(all[0]?.promise?.confidence ?? null)',
        to: 'bench.found(null)',
      },
    ],
  },
]
