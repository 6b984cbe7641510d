export interface Part {
  readonly name: string
  /** Arguments of npm. */
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Finds the line that sums its output up; the last line where it is absent. */
  readonly sum?: RegExp
}

/** Tests whose gateways answer chats. */
const chats = [
  ...['chat', 'guards', 'canary', 'observed-canary', 'live', 'tags', 'chained', 'dialects/attempts'],
  ...['hostile', 'hostile-long', 'usage-kills'],
] as const

/** All that `npm run night` plays, in this order. */
export const parts: readonly Part[] = [
  {
    name: 'tests',
    args: ['test', '--', '--patience', '1800'],
    env: { SEALGATE_WHOLE: '1', SEALGATE_FUZZ: '100000' },
    sum: /^# \{ total/,
  },
  {
    name: 'tests, no chat straight',
    args: ['test', '--', ...chats.map((name) => `dist/test/${name}.test.js`)],
    env: { SEALGATE_WAY: 'long' },
    sum: /^# \{ total/,
  },
  { name: 'check', args: ['run', 'check', '--', '--all'] },
  { name: 'mutations', args: ['run', 'mutate'] },
  { name: 'hunt', args: ['run', 'hunt'] },
  { name: 'hunt, no chat straight', args: ['run', 'hunt'], env: { SEALGATE_WAY: 'long' } },
  { name: 'hunt by cost', args: ['run', 'hunt:cost'] },
  { name: 'hunt of files', args: ['run', 'hunt:files', '--', '3000', '1', '300'] },
  { name: 'drill', args: ['run', 'drill'] },
  { name: 'soak', args: ['run', 'soak'] },
  { name: 'crowd', args: ['run', 'crowd'], sum: /^# \{ total|^# pass/ },
  { name: 'hostile', args: ['run', 'bench:hostile'] },
  { name: 'same package', args: ['run', 'package:same'] },
  { name: 'mutants of evidence', args: ['run', 'mutate:evidence'] },
  { name: 'removals of evidence', args: ['run', 'mutate:evidence:all'] },
]
