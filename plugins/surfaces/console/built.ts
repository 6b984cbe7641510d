import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { packagedCode } from '../../shared/packaged-code.ts'
import { browserModules } from './browser-modules.ts'
import { firstView } from './first-view.ts'
import { consolePage } from './page.ts'
import { style } from './style.ts'

/** A script or the style, as an answer holds it. */
export interface ConsoleFile {
  /** All answers share them. */
  readonly bytes: Uint8Array
  readonly type: string
  /** As `integrity` has it. */
  readonly integrity: string
}

/** Both pages and all files. They change only with a new release of this package. */
export interface Built {
  readonly page: Uint8Array
  /** The page that the reader's own machine serves. */
  readonly ownPage: Uint8Array
  /** Of all files together. */
  readonly hash: string
  readonly files: ReadonlyMap<string, ConsoleFile>
}

/** A source that runs uncompiled serves what was compiled last. */
const rootOf = (): string => {
  const { folder, ending } = packagedCode()
  return ending === '.ts' ? join(folder, 'dist') : folder
}

const codeByName = async (): Promise<ReadonlyMap<string, string>> => {
  const root = rootOf()
  /** The package holds all scripts in one file. */
  const packed = join(root, 'plugins/surfaces/console.json.br')
  if (existsSync(packed)) return new Map(JSON.parse(brotliDecompressSync(await readFile(packed)).toString()))
  const own = join(root, 'plugins/surfaces/console/browser')
  const names = (await readdir(own, { recursive: true })).filter((file) => file.endsWith('.js')).sort()
  return browserModules({ own, root }, names)
}

const fileOf = (content: string, type: string): ConsoleFile => {
  const bytes = Buffer.from(content)
  return { bytes, type, integrity: `sha256-${createHash('sha256').update(bytes).digest('base64')}` }
}

const build = async (): Promise<Built> => {
  const scripts = [...(await codeByName())].map(
    ([name, code]) => [name, fileOf(code, 'text/javascript; charset=utf-8')] as const,
  )
  const files = new Map([...scripts, ['style.css', fileOf(style, 'text/css; charset=utf-8')] as const])
  const all = createHash('sha256')
  for (const [name, { integrity }] of files) all.update(`${name} ${integrity}\n`)
  const hash = all.digest('hex').slice(0, 32)
  const first = firstView(files)
  const pageFor = (own: boolean): Uint8Array => Buffer.from(consolePage(hash, files, first, own))
  return { page: pageFor(false), ownPage: pageFor(true), hash, files }
}

let building: Promise<Built> | null = null

/** The console as it is served. A process reads the console once, with the first request. */
export const built = (): Promise<Built> => {
  building ??= build().catch((error) => {
    building = null
    throw error
  })
  return building
}
