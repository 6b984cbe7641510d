import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

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
  const places = ['node_modules/@energetic-ai', 'node_modules/.pnpm/node_modules/@energetic-ai']
  const installed = places.some((place) => existsSync(join(cwd, place, 'embeddings')))
  if (installed && decision.status !== 200) throw new Error(`no decision: ${decision.status}`)
  if (!installed && decision.status === 200) throw new Error('a decision without its model')
}
