import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly overrides?: Readonly<Record<string, string>>
}

/** A folder with these packages, installed once on a machine; null, with the reason printed, where npm can't. */
export const installed = (name: string, manifest: Manifest): string | null => {
  const folder = join(tmpdir(), `sealgate-bench-${name}`)
  if (existsSync(join(folder, 'complete'))) return folder
  try {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, ...manifest }))
    execFileSync('npm', ['install', '--silent', '--ignore-scripts'], { cwd: folder, stdio: 'ignore' })
    writeFileSync(join(folder, 'complete'), '')
    return folder
  } catch (error) {
    console.log(`${name} is left out, since npm can't install it: ${(error as Error).message}`)
    return null
  }
}
