// Before packing: a file's mode is that of the repository whatever the mask of its checkout, so that the same commit gives the same bytes.
import { chmodSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const { bin, files } = JSON.parse(readFileSync('package.json', 'utf8'))
const programs = new Set(Object.values(bin).map((file) => join('.', file)))
const settle = (path) => {
  const found = statSync(path)
  if (found.isDirectory()) {
    chmodSync(path, 0o755)
    for (const name of readdirSync(path)) settle(join(path, name))
    return
  }
  // The compiler asks the mask alone; a checkout keeps what its owner may run.
  const isProgram = path.startsWith('dist') ? programs.has(path) : (found.mode & 0o100) !== 0
  chmodSync(path, isProgram ? 0o755 : 0o644)
}
const checkedOut = files.filter((path) => !/^dist|[*!]/.test(path))
for (const path of ['dist', ...checkedOut, 'package.json', 'README.md', 'LICENSE']) settle(path)
