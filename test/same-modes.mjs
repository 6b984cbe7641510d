// Before packing: a file's mode is that of the repository and not of whoever checked it out, so that the same commit gives the same bytes.
import { chmodSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const { bin } = JSON.parse(readFileSync('package.json', 'utf8'))
const programs = new Set(Object.values(bin).map((file) => join('.', file)))
const settle = (path) => {
  if (statSync(path).isDirectory()) {
    chmodSync(path, 0o755)
    for (const name of readdirSync(path)) settle(join(path, name))
  } else chmodSync(path, programs.has(path) ? 0o755 : 0o644)
}
for (const path of ['dist', 'package.json', 'npm-shrinkwrap.json', 'README.md', 'LICENSE']) settle(path)
