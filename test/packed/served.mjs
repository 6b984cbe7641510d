import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Starts a server, waits until it is ready, asks it something, and stops it. */
export const served = async (cwd, program) => {
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
    await shown(base)
    await asked(base, cwd)
    const ended = new Promise((resolve) => server.once('exit', resolve))
    server.kill('SIGTERM')
    if ((await ended) !== 0) throw new Error('did not stop cleanly')
  } finally {
    server.kill('SIGKILL')
  }
}

/** The console with all of its scripts, and the pages that are made from the code. */
const shown = async (base) => {
  // Somebody who reads faster than `limits.keyless` waits as long as the refusal says.
  const text = async (path) => {
    const answer = await fetch(base + path)
    const wait = answer.status === 429 ? Number(answer.headers.get('retry-after')) : 0
    if (wait > 0) return sleep(wait * 1000).then(() => text(path))
    if (answer.status !== 200) throw new Error(`no ${path}: ${answer.status}`)
    return answer.text()
  }
  await Promise.all(['/docs', '/llms.txt', '/openapi.json'].map(text))
  const scripts = [...(await text('/console')).matchAll(/[\w./-]+\.js/g)].map(([path]) => path)
  if (scripts.length < 5) throw new Error('the console names no scripts')
  for (const path of new Set(scripts)) await text(new URL(path, `${base}/`).pathname)
}

/** A user's own program: a sealed file and two tools by the client of the package that is installed. */
const sealing = `import { setTimeout as sleep } from 'node:timers/promises'
  import { connect, newKek, newRagDek } from 'sealgate/client'
  const [baseUrl, apiKey] = process.argv.slice(2)
  const kek = newKek()
  const policy = { allowInsecureDev: true }
  const client = connect({ baseUrl, apiKey, kek, wrappedRagDek: newRagDek(kek), policy })
  const bytes = Buffer.from('# Lighthouse\\n\\nThe keeper mended the brass lamp in March.')
  const { id } = await client.files.upload({ name: 'log.md', mime: 'text/markdown', bytes })
  const read = await client.tools.call('getTextDocumentContent', { fileId: id })
  await client.files.index([id])
  while ((await client.files.list({ search: id })).files[0].rag_status !== 'completed') await sleep(50)
  const table = Buffer.from('keeper,lamps\\nIda,2\\n')
  const { id: rows } = await client.files.upload({ name: 'log.csv', mime: 'text/csv', bytes: table })
  const parsed = await client.tools.call('getTextDocumentContent', { fileId: rows })
  const found = await client.tools.call('searchRag', { query: 'Who mended the lamp?' })
  const tells = (it) => JSON.stringify(it).includes('brass lamp')
  console.log(tells(read), tells(found), JSON.stringify(parsed).includes('Ida'))`

const sealed = (base, key, cwd) => {
  writeFileSync(join(cwd, 'sealing.mjs'), sealing)
  const told = execFileSync('node', ['sealing.mjs', base, key], { cwd, timeout: 60_000 }).toString().trim()
  if (told !== 'true true true') throw new Error(`a sealed file was read and found: ${told}`)
}

/** A chat and a sealed file always work, and a decision where its model was installed. */
const asked = async (base, cwd) => {
  const key = readFileSync(join(cwd, 'data/first-key'), 'utf8').trim()
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const post = (path, body) => fetch(base + path, { method: 'POST', headers, body: JSON.stringify(body) })
  const chat = await post('/v1/chat/completions', { model: 'rehearsal', messages: [{ role: 'user', content: 'Hi' }] })
  if (chat.status !== 200) throw new Error(`no chat: ${chat.status}`)
  const questions = { mood: { type: 'choice', criteria: { good: 'pleased', bad: 'angry' } } }
  const decision = await post('/compat/v1/decision', { model: 'use-lite', state: 'I love it', questions })
  const places = ['node_modules/@energetic-ai', 'node_modules/.pnpm/node_modules/@energetic-ai']
  const installed = places.some((place) => existsSync(join(cwd, place, 'embeddings')))
  if (installed && decision.status !== 200) throw new Error(`no decision: ${decision.status}`)
  if (!installed && decision.status === 200) throw new Error('a decision without its model')
  sealed(base, key, cwd)
}
