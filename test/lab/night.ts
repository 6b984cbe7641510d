import { execFileSync, spawn } from 'node:child_process'
import { createWriteStream, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Part, parts } from './night/parts.ts'
import { pageOf, rowsOf } from './night/report.ts'

/** `npm run night [-- PART …]`: plays the parts one after another, and keeps how each ended in docs/night.md. */
const page = 'docs/night.md'
const wanted = process.argv.slice(2)
const names = parts.map(({ name }) => name)
const strange = wanted.filter((name) => !names.includes(name))
if (strange.length > 0)
  throw new Error(`The night has no part ${strange.join(', ')}; its parts are ${names.join(', ')}`)

const git = (...args: readonly string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim()
const isEdited = git('status', '--porcelain', '--', '.', `:!${page}`) !== ''
const commit = `${git('rev-parse', '--short', 'HEAD')}${isEdited ? '+' : ''}`
const logs = mkdtempSync(join(tmpdir(), 'sealgate-night-'))

interface Ended {
  readonly code: number | null
  readonly lines: readonly string[]
}

const played = ({ name, args, env }: Part): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = spawn('npm', args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
    const log = createWriteStream(join(logs, `${name.replaceAll(' ', '-')}.txt`))
    let output = ''
    child.on('error', reject)
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      log.write(text)
      output += text
    })
    child.on('close', (code) => {
      log.end()
      resolve({ code, lines: output.split('\n').filter((line) => line.trim() !== '') })
    })
  })

const kept = (): string => {
  try {
    return readFileSync(page, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

console.log(`The output of each part goes to ${logs}`)
let failed = 0
for (const part of parts.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
  const began = performance.now()
  const { code, lines } = await played(part)
  const text = lines.findLast((line) => part.sum?.test(line) ?? true) ?? 'nothing'
  const isFine = code === 0
  const row = {
    ...{ part: part.name, isFine, commit, said: text, node: process.version },
    day: new Date().toISOString().slice(0, 10),
    minutes: (performance.now() - began) / 60_000,
  }
  writeFileSync(page, pageOf(names, rowsOf(kept()), row))
  console.log(`${part.name}: ${isFine ? 'fine' : 'FAILED'} after ${row.minutes.toFixed(1)} minutes: ${text}`)
  failed += isFine ? 0 : 1
}
process.exit(failed === 0 ? 0 : 1)
