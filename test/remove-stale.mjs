import { access, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Removes from `dist` what was built from files that are gone, so that a test or plugin that was moved is never met twice. */
const isThere = (file) =>
  access(file).then(
    () => true,
    () => false,
  )

for (const file of await readdir('dist', { recursive: true })) {
  const source = /^(.*)(?:\.d\.ts|\.js(?:\.map)?)$/.exec(file)?.[1]
  if (source === undefined || (await isThere(`${source}.ts`))) continue
  await rm(join('dist', file))
  process.stdout.write(`removed dist/${file}\n`)
}
