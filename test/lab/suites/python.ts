import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, mkdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Programs by others are installed only where somebody asks for them. */
export const unwanted: string | false =
  process.env['SEALGATE_SUITES'] !== '1' && 'SEALGATE_SUITES=1 installs and runs it'

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** A folder that is filled once, and kept for the next run. */
const filled = async (name: string, fill: (folder: string) => Promise<unknown>): Promise<string> => {
  const root = process.env['SEALGATE_SUITES_FOLDER'] ?? join(tmpdir(), 'sealgate-suites')
  const folder = join(root, name)
  const ready = join(folder, '.ready')
  if (await exists(ready)) return folder
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await fill(folder)
  const mark = join(folder, '.filling')
  await mkdir(mark)
  await rename(mark, ready)
  return folder
}

const named = (packages: readonly string[]): string =>
  createHash('sha256').update(packages.join(' ')).digest('hex').slice(0, 12)

/** The `bin` of a virtual environment with these packages, each pinned as `name==version`. */
export const pythonWith = async (...packages: readonly string[]): Promise<string> => {
  const folder = await filled(`python-${named(packages)}`, async (folder) => {
    await run('python3', ['-m', 'venv', folder])
    const pip = join(folder, 'bin', 'pip')
    await run(pip, ['install', '--quiet', '--disable-pip-version-check', ...packages], { maxBuffer: 1 << 26 })
  })
  return join(folder, 'bin')
}

/** The folder in which npm installed these packages, each pinned as `name@version`. */
export const npmWith = (...packages: readonly string[]): Promise<string> =>
  filled(`npm-${named(packages)}`, (folder) =>
    run('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, ...packages], { maxBuffer: 1 << 26 }),
  )

/** How a program ended, and what it printed. */
export interface Ended {
  readonly code: number | string
  readonly out: string
  readonly err: string
}

/** Runs a program to its end; a code other than 0 is no error. */
export const ended = (
  program: string,
  args: readonly string[],
  env: Record<string, string> = {},
  cwd = process.cwd(),
): Promise<Ended> =>
  new Promise((resolve) => {
    const options = { maxBuffer: 1 << 28, timeout: 600_000, env: { ...process.env, ...env }, cwd }
    execFile(program, args, options, (error, out, err) => resolve({ code: error?.code ?? 0, out, err }))
  })
