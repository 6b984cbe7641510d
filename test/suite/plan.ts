import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isWhole } from '../whole.ts'

/** Files that one process plays, one after another. */
export type Turn = readonly string[]

/** The files that take longest begin first, so that none of them runs alone at the end. */
const longest: readonly string[] = [
  'outages',
  'budgets',
  'interface',
  'straight',
  'faults/drill',
  'faults/ways',
  'commands',
  'mcp',
  'tools',
  'console-browser',
  'replicas',
  'plugins/storage/s3',
  'rolling',
  'console-sealed',
  'recordings',
  'serve',
  'console-live',
  'console-decisions',
  'console-sign-in',
  'plugins/tools/audioDiarization',
  'workers',
  'proof',
  'budget-replicas',
  'sealed',
  'hostile',
  'hostile-long',
  'hostile-victims',
  'hostile-workers',
  'release',
  'plugins/tools/imageDescribeAndCaptionFallback',
  'plugins/tools/webPageScraperTool',
  'plugins/tools/transcribeAudioWithDiarization',
  'plugins/tools/getSpreadsheetContent',
  'plugins/tools/videoDescribeAndCaption',
  'adapters/production/enclave/enclave',
  'snippets',
  'pages',
  'browser-check',
  'starting',
  'soak',
  'hunt-files',
  'usage-kills',
  'batches-million',
  'suite',
]

/** Files that take long: browsers, many processes, engines of tools, hunts. `npm run test:long` plays them, as CI and the night do. */
const long: readonly string[] = [
  'serve',
  'recordings',
  'console-forms',
  'starting',
  'calibrate',
  'service-backends',
  'drill',
  'plugins/providers/use-lite',
  'plugins/tools/transcribeAudioToText',
  'batches-million',
  'frameworks',
  'faults/ways',
  'hostile',
  'hostile-long',
  'hostile-victims',
  'hostile-workers',
  'production-example',
  'console-browser',
  'plugins/tools/imageDescribeAndCaptionFallback',
  'plugins/tools/getFileContentOCR',
  'replicas',
  'rolling',
  'console-live',
  'console-sealed',
  'console-sealed-attacks',
  'plugins/tools/getPDFContent',
  'plugins/tools/webPageScraperTool',
  'plugins/storage/s3',
  's3-kills',
  'release',
  'budget-replicas',
  'console-sign-in',
  'plugins/tools/getSpreadsheetContent',
  'plugins/tools/audioDiarization',
  'usage-kills',
  'browser-check',
  'suite',
  'workers',
  'plugins/readers/image',
  'plugins/readers/pdf',
  'console-decisions',
  'console-teams',
  'plugins/shared/pictures/ocr-draws',
  'ehbp-browser',
  'seal-program',
  'plugins/tools/videoDescribeAndCaption',
  'plugins/tools/createFileForUser/made-files',
  'plugins/shared/pictures/images',
  'plugins/tools/transcribeAudioWithDiarization',
  'plugins/providers/flite',
  'console-late',
  'console-counts',
  'console-settings',
  'two-files',
  'soak',
  'hunt-files',
  'plugins/readers/shared/files',
  'plugins/tools/getDataFileContent',
  'plugins/tools/videoDescribeAndCaption/video',
  'tools',
  'hunt',
  'snippets',
  'mcp',
  'outages',
  'commands',
  'counts',
  'proof',
  'plugins/storage/redis',
  'plugins/storage/postgres',
  'model',
  'seal-admission',
  'faults/drill',
  'seal-guards',
  'lint',
  'patterns',
  'client-package',
  'adapters/production/enclave/enclave',
  'plugins/usage/usage-sums',
  'sdk-retries',
  'seal-doors',
  'chained',
  'lab/suites/wycheproof',
  'seal-canary',
  'sealed-canary',
  'plugins/sealed/evidence/tdx-real',
  'pages',
  'verified-backends',
  'receipt-log',
  'visited',
  'adapters/production/enclave/harden',
  'straight',
  'plugins/shared/decoder-fences',
  'bench',
  'packed-pages',
]

/** Files beside the longest that have a process to themselves: they read its arguments, change it, or measure it. */
const alone: readonly string[] = [
  'adapters/production/enclave/harden',
  'chained',
  'client-package',
  'console-settings',
  'console-teams',
  'counts',
  'frameworks',
  'lab/suites/openai',
  'lab/suites/wycheproof',
  'model',
  'observed-canary',
  'plugins/observers/opentelemetry',
  'production-example',
  'sdk-retries',
  'seal-canary',
  'seal-program',
  'sealed-canary',
  'two-files',
  'visited',
]

/** Most files of one process: with twelve, a fifth of the CPU goes into loading and compiling the same modules again. */
const most = 24

/** Neighbours cost alike, so each of them goes to another process. */
const dealt = (files: readonly string[]): readonly Turn[] => {
  const count = Math.ceil(files.length / most)
  return Array.from({ length: count }, (_, turn) => files.filter((_, at) => at % count === turn))
}

export interface Plan {
  readonly turns: readonly Turn[]
  /** Files that another command plays. */
  readonly resting: readonly string[]
}

/** Which files are played: all but the long ones, the long ones alone, or all. */
export type Share = 'short' | 'long' | 'all'

/** The files of tests that a command plays, as the turns in which they are played. */
export const planned = async (share: Share = isWhole ? 'all' : 'short'): Promise<Plan> => {
  const files = (await readdir('dist/test', { recursive: true }))
    .filter((file) => file.endsWith('.test.js'))
    .map((file) => file.slice(0, -'.test.js'.length))
    .sort()
  const missing = [...longest, ...long, ...alone].filter((file) => !files.includes(file))
  if (missing.length > 0) throw new Error(`No such tests: ${missing.join(', ')}`)
  const others: Readonly<Record<Share, readonly string[]>> = {
    ...{ short: long, long: files.filter((file) => !long.includes(file)), all: [] },
  }
  const resting = others[share]
  const first = longest.filter((file) => !resting.includes(file))
  const rest = files.filter((file) => !longest.includes(file) && !resting.includes(file))
  const played = [
    ...[...first, ...rest.filter((file) => alone.includes(file))].map((file) => [file]),
    ...dealt(rest.filter((file) => !alone.includes(file))),
  ]
  return { turns: played.map((turn) => turn.map((file) => join('dist/test', `${file}.test.js`))), resting }
}
