import type { Changes } from './mutation.ts'

const test = 'test/adapters/production/loaded-at-start.test.ts'

/** The code is imported beside what needs it. */
const early = (file: string, load: string, breaks: string): Changes => ({
  file,
  test,
  changes: [
    {
      breaks,
      from: load,
      to: load.replace(
        /^const (\w+) = lazy\(\(\) => import\((.+)\)\)$/,
        'import * as it from $2\nconst $1 = async () => it',
      ),
    },
  ],
})

export const starts: readonly Changes[] = [
  {
    file: 'core/lazy.ts',
    test: 'test/core/lazy.test.ts',
    changes: [
      { breaks: 'Callers at once share one load.', from: '(loaded ??= load()', to: '(loaded = load()' },
      { breaks: 'A caller after a failed load loads anew.', from: '      loaded = null\n', to: '' },
      {
        breaks: 'A failed load is a fault of the installation.',
        from: 'throw new Unavailable(undefined, { cause })',
        to: 'throw cause',
      },
    ],
  },
  early(
    'core/inference/inference.ts',
    "const calling = lazy(() => import('./calls.ts'))",
    'A start loads no calls to backends.',
  ),
  early(
    'core/inference/metering/meter.ts',
    "const reserving = lazy(() => import('./reservations.ts'))",
    'A start loads no allowances and budgets.',
  ),
  early(
    'core/calls/chat.ts',
    "const answering = lazy(() => import('./chat/answering.ts'))",
    'A start loads no answers of chats.',
  ),
  early(
    'core/routes/decision.ts',
    "const answering = lazy(() => import('./decision-answers.ts'))",
    'A start loads no decisions.',
  ),
  early(
    'plugins/surfaces/console/routes.ts',
    "const building = lazy(() => import('./built.ts'))",
    'A start builds no console.',
  ),
  early('core/routes/front.ts', "const pages = lazy(() => import('./front-page.ts'))", 'A start loads no front page.'),
  early(
    'core/routes/files.ts',
    "const sending = lazy(() => import('./sent-file.ts'))",
    'A start loads no parser of files.',
  ),
  early(
    'core/routes/tools.ts',
    "const describing = lazy(() => import('../tool-schema.ts'))",
    'A start makes no schemas of tools.',
  ),
  early(
    'core/access/logins.ts',
    "const proving = lazy(() => import('./proved-logins.ts'))",
    'A start loads no proofs of tokens.',
  ),
  early(
    'core/access/login-codes.ts',
    "const exchanging = lazy(() => import('./exchanged-codes.ts'))",
    'A start loads no exchange of codes.',
  ),
  early(
    'core/live/live.ts',
    "const staging = lazy(() => import('./stage.ts'))",
    'A start loads nothing for listeners.',
  ),
  early(
    'plugins/surfaces/v1/messages.ts',
    "const answering = lazy(() => import('./answer-messages.ts'))",
    'A start loads no dialect of messages.',
  ),
  early(
    'plugins/surfaces/v1/responses.ts',
    "const answering = lazy(() => import('./answer-responses.ts'))",
    'A start loads no dialect of responses.',
  ),
  early(
    'plugins/surfaces/gemini/generate-content.ts',
    "const answering = lazy(() => import('./answer-contents.ts'))",
    'A start loads no dialect of contents.',
  ),
  early(
    'plugins/surfaces/mcp/routes.ts',
    "const answering = lazy(() => import('./answer-call.ts'))",
    'A start loads no protocol of agents.',
  ),
  early(
    'plugins/tools/audioDiarization.ts',
    "const voices = lazy(() => import('./shared/speakers.ts'))",
    'A start loads no engine of voices.',
  ),
  early(
    'plugins/tools/audioGenerateFromText.ts',
    "const speech = lazy(() => import('./audioGenerateFromText/speak.ts'))",
    'A start loads no engine of speech.',
  ),
  early(
    'plugins/tools/webPageScraperTool.ts',
    "const browsing = lazy(() => import('./webPageScraperTool/render.ts'))",
    'A start loads nothing that drives browsers.',
  ),
]
