// Packs the package, installs the tarball in an empty folder as a user would, starts it and asks it something.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folder = mkdtempSync(join(tmpdir(), 'sealgate-'))
const run = (command, args, cwd) =>
  execFileSync(command, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] }).toString()

/** Folders in which no other installation is found. */
const apart = []
const ways = [
  ['npm', 'npm', 'install', '--silent', '--no-audit', '--no-fund'],
  ['npm without optional packages', 'npm', 'install', '--silent', '--no-audit', '--no-fund', '--omit=optional'],
  ['pnpm', 'pnpm', 'add', '--silent'],
]

/** Packages and bytes below a folder; a link counts where it leads to, once. */
const weighed = (folder) => {
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

/** Starts a server, waits until it is ready, asks for a decision where the model is there, and stops it. */
const served = async (cwd, program) => {
  const env = { ...process.env, PORT: '0', SEALGATE_LOG: 'silent', SEALGATE_DATA: join(cwd, 'data') }
  const server = spawn('node', [program], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const base = await new Promise((resolve, reject) => {
      let said = ''
      server.stdout.on('data', (part) => {
        said += part
        const url = /sealgate listening on (http:\S+)/.exec(said)?.[1]
        if (url) resolve(url)
      })
      server.once('exit', () => reject(new Error(`ended before it listened: ${said}`)))
      setTimeout(reject, 20_000, new Error('did not listen in time')).unref()
    })
    const ready = await fetch(`${base}/health/ready`)
    if (ready.status !== 200) throw new Error(`not ready: ${ready.status}`)
    await asked(base, cwd)
    const ended = new Promise((resolve) => server.once('exit', resolve))
    server.kill('SIGTERM')
    if ((await ended) !== 0) throw new Error('did not stop cleanly')
  } finally {
    server.kill('SIGKILL')
  }
}

/** A chat always works, and a decision where its model was installed. */
const asked = async (base, cwd) => {
  const key = readFileSync(join(cwd, 'data/first-key'), 'utf8').trim()
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const post = (path, body) => fetch(base + path, { method: 'POST', headers, body: JSON.stringify(body) })
  const chat = await post('/v1/chat/completions', { model: 'rehearsal', messages: [{ role: 'user', content: 'Hi' }] })
  if (chat.status !== 200) throw new Error(`no chat: ${chat.status}`)
  const questions = { mood: { type: 'choice', criteria: { good: 'pleased', bad: 'angry' } } }
  const decision = await post('/compat/v1/decision', { model: 'use-lite', state: 'I love it', questions })
  const installed = existsSync(join(cwd, 'node_modules/@energetic-ai/embeddings'))
  if (installed && decision.status !== 200) throw new Error(`no decision: ${decision.status}`)
  if (!installed && decision.status === 200) throw new Error('a decision without its model')
}

try {
  run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], process.cwd())
  const tarball = readdirSync(folder).find((file) => file.endsWith('.tgz'))
  writeFileSync(join(folder, 'package.json'), '{"name":"installed","version":"0.0.0","private":true,"type":"module"}')
  run('npm', ['install', '--silent', `./${tarball}`], folder)

  // What a stranger gets is light, by whichever program it is installed, and serves.
  for (const [way, command, ...args] of ways) {
    const own = mkdtempSync(join(tmpdir(), 'sealgate-light-'))
    apart.push(own)
    writeFileSync(join(own, 'package.json'), '{"name":"light","version":"0.0.0","private":true,"type":"module"}')
    try {
      run(command, [...args, join(folder, tarball)], own)
    } catch (error) {
      if (error.code !== 'ENOENT') throw error
      console.log(`${way}: skipped, it is not installed`)
      continue
    }
    const { packages, bytes } = weighed(own)
    console.log(`${way}: ${packages} packages, ${(bytes / 1e6).toFixed(1)} MB`)
    // The parser of forms alone brings 57 packages.
    if (packages > 215 || bytes > 110e6) throw new Error(`${way} installs too much`)
    await served(own, join(own, 'node_modules/sealgate/dist/adapters/production/main.js'))
  }

  // Unpacked and installed by its own lock, it runs on what was tested here, whatever is newest elsewhere.
  run('tar', ['-xzf', tarball], folder)
  const unpacked = join(folder, 'package')
  run('npm', ['ci', '--silent', '--omit=dev', '--ignore-scripts'], unpacked)
  const lock = (path) => JSON.parse(readFileSync(path, 'utf8')).packages
  const tested = lock('npm-shrinkwrap.json')
  const there = Object.entries(lock(join(unpacked, 'node_modules/.package-lock.json')))
  const others = there.filter(([path, { version }]) => tested[path]?.version !== version).map(([path]) => path)
  if (others.length > 0) throw new Error(`installed, but never tested: ${others.join(' ')}`)

  const bill = JSON.parse(run('npm', ['sbom', '--silent', '--sbom-format=cyclonedx'], folder))
  const named = new Set(bill.components.filter(({ hashes }) => hashes).map(({ name }) => name))
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  const missing = ['sealgate', ...Object.keys(dependencies)].filter((name) => !named.has(name))
  if (missing.length > 0) throw new Error(`the bill of materials lacks ${missing.join(', ')}`)
  if (process.env.SBOM) writeFileSync(process.env.SBOM, JSON.stringify(bill))

  writeFileSync(
    join(folder, 'embed.js'),
    `import { createGateway } from 'sealgate'
     import { memory } from 'sealgate/memory'
     const gateway = createGateway(memory())
     console.log(typeof gateway.listener)
     await gateway.close()`,
  )
  if (run('node', ['embed.js'], folder).trim() !== 'function') throw new Error('could not be embedded')
  // Whatever `exports` names is there, with all that it imports.
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
  const shipped = readdirSync(unpacked, { recursive: true }).map((file) => `./${file}`)
  const paths = Object.entries(exports).flatMap(([name, target]) => {
    // The programs of threads and processes are no entries.
    if (target === null) return []
    const [before, after] = target.split('*')
    if (after === undefined) return [name]
    const of = shipped.filter((file) => file.startsWith(before) && file.endsWith(after))
    return of.map((file) => name.replace('*', file.slice(before.length, -after.length)))
  })
  writeFileSync(
    join(folder, 'imports.js'),
    `const faults = []
     for (const path of ${JSON.stringify([...new Set(paths)].filter((path) => exports[path] !== null))})
       await import('sealgate' + path.slice(1), path.endsWith('.json') ? { with: { type: 'json' } } : {})
         .catch(({ message }) => faults.push(path + ': ' + message))
     console.log(faults.join('\\n'))
     process.exit()`,
  )
  const unreachable = run('node', ['imports.js'], folder).trim()
  if (unreachable !== '') throw new Error(`exported, but not importable:\n${unreachable}`)

  if (!run(join(folder, 'node_modules/.bin/sealgate'), ['help'], folder).includes('sealgate keys'))
    throw new Error('no command')

  await served(folder, join(unpacked, 'dist/adapters/production/main.js'))
  console.log('packed, installed, embedded, started, ready, stopped')
} finally {
  for (const each of [folder, ...apart]) rmSync(each, { recursive: true, force: true })
}
