import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Subject } from './measure.ts'

export interface Rival {
  readonly subject: Subject
  readonly headers: Readonly<Record<string, string>>
}

const folder = join(tmpdir(), 'sealgate-bench-portkey')

/** Portkey's gateway from npm; null, with the reason printed, when it can't be installed. Its CPU is read from the kernel. */
export const portkey = async (upstream: string): Promise<Rival | null> => {
  const main = join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js')
  try {
    if (!existsSync(main)) install()
  } catch {
    console.log('chat: portkey could not be installed, so it is left out')
    return null
  }
  const port = await freePort()
  const child = spawn(process.execPath, [main, `--port=${port}`, '--headless'], {
    cwd: folder,
    env: { ...process.env, NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost' },
    stdio: 'ignore',
  })
  const base = `http://127.0.0.1:${port}`
  for (let tries = 0; tries < 100; tries++) {
    if (
      await fetch(base).then(
        () => true,
        () => false,
      )
    )
      break
    await sleep(100)
  }
  const statusOf = (name: string) => readFileSync(`/proc/${child.pid}/${name}`, 'utf8')
  return {
    headers: { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${upstream}/v1` },
    subject: {
      base,
      async cpu() {
        const fields = statusOf('stat')
          .replace(/^.*\) /, '')
          .split(' ')
        return (Number(fields[11]) + Number(fields[12])) * 10_000
      },
      async memory() {
        return Number(/VmRSS:\s+(\d+)/.exec(statusOf('status'))?.[1] ?? 0) * 1024
      },
      ask: () => Promise.reject(new Error('It answers no questions')),
      async stop() {
        child.kill()
      },
    },
  }
}

const install = (): void => {
  mkdirSync(folder, { recursive: true })
  const manifest = {
    private: true,
    dependencies: { '@portkey-ai/gateway': '1.15.2' },
    // Freshly resolved versions of these make all its streams fail.
    overrides: { hono: '4.9.7', '@hono/node-server': '1.13.5', '@hono/node-ws': '1.2.0' },
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  execFileSync('npm', ['install', '--silent', '--ignore-scripts'], { cwd: folder, stdio: 'ignore' })
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
