// Installs what only tests need and what is large: models, engines, and the clients of others. `npm ci && npm start` does without.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const wanted = Object.entries(JSON.parse(readFileSync('test/large-packages.json', 'utf8')))

/** Whether exactly this version stands in `node_modules`. */
const stands = ([name, version]) => {
  try {
    return JSON.parse(readFileSync(join('node_modules', name, 'package.json'), 'utf8')).version === version
  } catch {
    return false
  }
}

const missing = wanted.filter((entry) => !stands(entry))
if (missing.length > 0) {
  process.stdout.write(`installing ${missing.length} packages that only tests need\n`)
  // All are named: npm takes away each package that neither package.json nor this command names.
  const names = wanted.map(([name, version]) => `${name}@${version}`)
  const { status } = spawnSync('npm', ['install', '--no-save', '--save-dev', '--no-audit', '--no-fund', ...names], {
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
}
