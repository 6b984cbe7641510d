import type { Changes } from './mutation.ts'

const browser = 'test/console-browser.test.ts'
const server = 'test/console.test.ts'
const parts = 'test/core/console.test.ts'

export const consoles: readonly Changes[] = [
  {
    file: 'core/routes/console/headers.ts',
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
    file: 'core/routes/console.ts',
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
    file: 'core/console/csv.ts',
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
    file: 'core/console/sums.ts',
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
    file: 'core/console/traffic.ts',
    test: parts,
    changes: [
      { breaks: 'The console is no traffic.', from: '/^GET \\/(?:health|metrics|console', to: '/^GET \\/(?:health' },
    ],
  },
  {
    file: 'core/console/session.ts',
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
    file: 'core/console/key-acts.ts',
    test: browser,
    changes: [{ breaks: 'The old key ends after a rotation.', from: '{ expires_at: until }', to: '{ name }' }],
  },
]
