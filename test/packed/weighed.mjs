import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Packages and bytes below a folder. Links are not followed: pnpm keeps each package once, and links to it. */
export const weighed = (folder) => {
  let [packages, bytes] = [0, 0]
  const visit = (path) => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const below = join(path, entry.name)
      if (entry.isDirectory()) visit(below)
      else if (entry.isFile()) {
        bytes += statSync(below).size
        if (/node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(below)) packages++
      }
    }
  }
  visit(join(folder, 'node_modules'))
  return { packages, bytes }
}
