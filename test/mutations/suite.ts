import type { Changes } from './mutation.ts'

const suite = 'test/suite.test.ts'

export const suites: readonly Changes[] = [
  {
    file: 'test/suite/parts.ts',
    test: suite,
    changes: [
      { breaks: 'A check that failed in a shared process is counted.', from: "not ? 'fail' : 'pass'", to: "'pass'" },
      { breaks: 'A test counts by the checks inside it.', from: 'if (isSum || name', to: 'if (name' },
    ],
  },
  {
    file: 'test/suite/together.ts',
    test: suite,
    changes: [
      {
        breaks: 'Each file of a shared process has a teardown of its own.',
        from: 'Object.assign(t, { teardown:',
        to: 'Object.assign({}, { teardown:',
      },
      {
        breaks: 'A file that can not be loaded has failed.',
        from: '    t.error(fault, `${file} is loaded`)\n',
        to: '    t.comment(String(fault))\n',
      },
    ],
  },
  {
    file: 'test/suite/cpu.ts',
    test: suite,
    changes: [{ breaks: 'A file is told its own cost alone.', from: '    before = now\n', to: '' }],
  },
  {
    file: 'test/suite.ts',
    test: suite,
    changes: [
      {
        breaks: 'A file without checks has failed.',
        from: ' && told.total + told.skipped.length > 0',
        to: '',
      },
    ],
  },
]
