import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { sampled, seed } from '../whole.ts'

/** Files that one process plays, one after another. */
export type Turn = readonly string[]

/** The files that take longest begin first, so that none of them runs alone at the end. */
const longest: readonly string[] = [
  'outages',
  'interface',
  'faults/drill',
  'commands',
  'mcp',
  'tools',
  'console-browser',
  'replicas',
  'plugins/storage/s3',
  'rolling',
  'console-sealed',
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
  'suite',
]

/** So many days play all files that take turns. Samples inside of them take other numbers of days, so each meets each. */
const everyDays = 7

/** Files with browsers, many processes or engines of tools. They take turns: each has its day of the week, and the night plays all. */
const byDay: readonly string[] = [
  'console-browser',
  'plugins/tools/imageDescribeAndCaptionFallback',
  'plugins/tools/getFileContentOCR',
  'replicas',
  'rolling',
  'console-live',
  'console-sealed',
  'plugins/tools/getPDFContent',
  'plugins/tools/webPageScraperTool',
  'plugins/storage/s3',
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
  'seal-program',
  'plugins/tools/videoDescribeAndCaption',
  'plugins/tools/createFileForUser/made-files',
  'plugins/shared/pictures/images',
  'plugins/tools/transcribeAudioWithDiarization',
  'plugins/providers/flite',
  'console-settings',
  'two-files',
  'soak',
  'hunt-files',
  'plugins/readers/shared/files',
  'plugins/tools/getDataFileContent',
  'plugins/tools/videoDescribeAndCaption/video',
]

/** Rooms whose files share processes: they leave nothing behind. */
const rooms =
  /^(core|dialects|plugins|adapters\/memory|adapters\/production\/(backends|commands|config|evidence|log|screen))\//

/** Files of no room that share processes, too. */
const gateways: readonly string[] = [
  'adapters/production/network/tls',
  'adapters/production/redis/budgets',
  'adapters/production/usage-journal',
  'admin',
  'admin-ledger',
  'api',
  'architecture',
  'backends',
  'bench',
  'bound-files',
  'budgets',
  'calibrate',
  'canary',
  'chat',
  'console',
  'contracts',
  'decision',
  'docs',
  'embedding',
  'files',
  'front',
  'guards',
  'hunt',
  'indexing',
  'light',
  'lint',
  'live',
  'live-workers',
  'logins',
  'mcp-conformance',
  'mcp-http',
  'mcp-programs',
  'media',
  'models-for-tools',
  'mutations',
  'named-providers',
  'operations-front',
  'programs',
  'programs-canary',
  'programs-contract',
  'public-entries',
  'receipt-log',
  'receipts',
  'reference',
  'reload',
  'seal',
  'seal-admission',
  'seal-doors',
  'seal-guards',
  'sealed-audio',
  'sealed-decision',
  'sealed-embeddings',
  'sealed-files',
  'sealed-limits',
  'sealed-long',
  'sealed-status',
  'sealed-streams',
  'sight',
  'stock-errors',
  'stock-libraries',
  'stock-media',
  'surfaces',
  'tags',
  'verified-backends',
  'web-socket',
]

/** Most files of one process. */
const most = 12

const chunked = (files: readonly string[]): readonly Turn[] => {
  const count = Math.ceil(files.length / most)
  const size = Math.ceil(files.length / count)
  return Array.from({ length: count }, (_, at) => files.slice(at * size, (at + 1) * size))
}

export interface Plan {
  readonly turns: readonly Turn[]
  /** Files that have another day. */
  readonly resting: readonly string[]
}

/** The files of tests that a day plays, as the turns in which they are played. */
export const planned = async (day = seed): Promise<Plan> => {
  const files = (await readdir('dist/test', { recursive: true }))
    .filter((file) => file.endsWith('.test.js'))
    .map((file) => file.slice(0, -'.test.js'.length))
    .sort()
  const missing = [...longest, ...byDay, ...gateways].filter((file) => !files.includes(file))
  if (missing.length > 0) throw new Error(`No such tests: ${missing.join(', ')}`)
  const ofToday = sampled(byDay, everyDays, day)
  const resting = byDay.filter((file) => !ofToday.includes(file))
  const first = longest.filter((file) => !resting.includes(file))
  const rest = files.filter((file) => !longest.includes(file) && !resting.includes(file))
  const isShared = (file: string) => rooms.test(file) || gateways.includes(file)
  const played = [
    ...first.map((file) => [file]),
    ...chunked(rest.filter(isShared)),
    ...rest.filter((file) => !isShared(file)).map((file) => [file]),
  ]
  return { turns: played.map((turn) => turn.map((file) => join('dist/test', `${file}.test.js`))), resting }
}
