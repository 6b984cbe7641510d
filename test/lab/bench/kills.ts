import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { killed } from '../../fakes/killed.ts'

/** A server that is killed 200 times while it takes files in and removes them. */
export const kills = async (): Promise<readonly string[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-kills-'))
  try {
    const { kills, acknowledged, removed, lost, broken, orphans, left } = await killed(200, folder)
    return [
      `${kills} times killed among ${acknowledged} acknowledged uploads and ${removed} removals: ${lost} lost, ` +
        `${broken} listed without their bytes, ${orphans} orphans swept, ${left} left (0, 0 and 0 left are wanted)`,
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
