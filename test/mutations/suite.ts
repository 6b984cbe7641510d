import type { Changes } from './mutation.ts'

const suite = 'test/suite.test.ts'
const hunters = 'test/hunt-parsers.test.ts'

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
    file: 'test/suite/plan.ts',
    test: suite,
    changes: [
      {
        breaks: 'Each day plays other long files.',
        from: 'sampled(byDay, everyDays, day)',
        to: 'sampled(byDay, everyDays, 0)',
      },
      {
        breaks: 'A file that rests is not played.',
        from: ' && !resting.includes(file))\n  const isShared',
        to: ')\n  const isShared',
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
  {
    file: 'test/hunt/crash-watch.ts',
    test: hunters,
    changes: [
      {
        breaks: 'A hunt notices a decoder that a signal ends.',
        from: "return !(killed && signal === 'SIGKILL')",
        to: 'return false',
      },
      {
        breaks: 'A hunt notices a parser that ends without an answer.',
        from: "return code !== 0 && spawnargs.some((word) => word.includes('job-process'))",
        to: 'return false',
      },
      {
        breaks: 'The exit code of a decoder is a refusal.',
        from: "return code !== 0 && spawnargs.some((word) => word.includes('job-process'))",
        to: 'return code !== 0',
      },
    ],
  },
  {
    file: 'test/hunt/many-files-job.ts',
    test: hunters,
    changes: [
      { breaks: 'A parser finds the globals that the one before took away.', from: '    restore(before)\n', to: '' },
    ],
  },
  {
    file: 'test/hunt/play-files.ts',
    test: hunters,
    changes: [
      {
        breaks: 'A process that reads no whole file any more says nothing.',
        from: "!played.slice(files.length).every(({ kind }) => kind === 'done')",
        to: 'false',
      },
      {
        breaks: 'A file that was slow beside others is read alone.',
        from: ' || it.ms > parser.boundMs / 2',
        to: ' || it.ms > 2 ** 31',
      },
      {
        breaks: 'A file that works little counts as no breach when the clock ended it.',
        from: 'worked !== undefined && worked.ms < file.kind.parser.boundMs',
        to: 'file.seed < 0',
      },
      {
        breaks: 'A file whose reader ended it is noticed.',
        from: "if (it.end !== 'refused' || isWithin(file.kind.parser, it)) return it",
        to: 'return it',
      },
    ],
  },
  {
    file: 'test/hunt/hunt-parsers.ts',
    test: hunters,
    changes: [
      {
        breaks: 'A hunt of a kind that there is not fails.',
        from: 'if (missing.length > 0) throw',
        to: 'if (missing.length > 9) throw',
      },
    ],
  },
]
