import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { firstView } from './first-view.ts'
import { consolePage } from './page.ts'
import { style } from './style.ts'

export interface ConsoleFile {
  /** All answers share them. */
  readonly bytes: Uint8Array
  readonly type: string
  /** As `integrity` has it. */
  readonly integrity: string
}

export interface Built {
  readonly page: Uint8Array
  /** Of all files together. */
  readonly hash: string
  readonly files: ReadonlyMap<string, ConsoleFile>
}

/** A source that runs uncompiled serves what was compiled last. */
const folder = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../../dist/core/console/' : '../../console/', import.meta.url),
)

const fileOf = (content: string, type: string): ConsoleFile => {
  const bytes = Buffer.from(content)
  return { bytes, type, integrity: `sha256-${createHash('sha256').update(bytes).digest('base64')}` }
}

const script = async (name: string): Promise<readonly [string, ConsoleFile]> => {
  const compiled = await readFile(join(folder, name), 'utf8')
  // The map stays on the builder's machine.
  return [name, fileOf(compiled.replace(/^\/\/# sourceMappingURL=.*\n?/m, ''), 'text/javascript; charset=utf-8')]
}

const build = async (): Promise<Built> => {
  const names = (await readdir(folder, { recursive: true })).map((it) => it.replaceAll('\\', '/')).sort()
  const scripts = await Promise.all(names.filter((it) => it.endsWith('.js')).map(script))
  const files = new Map([...scripts, ['style.css', fileOf(style, 'text/css; charset=utf-8')] as const])
  const all = createHash('sha256')
  for (const [name, { integrity }] of files) all.update(`${name} ${integrity}\n`)
  const hash = all.digest('hex').slice(0, 32)
  return { page: Buffer.from(consolePage(hash, files, firstView(files))), hash, files }
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
