import './fakes/unwatched.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { running } from './environments.ts'
import { callersOf } from './lab/soak/callers.ts'
import { ask } from './lab/soak/traffic.ts'

t.test('ten seconds of everything at once, much of it left early, leave nothing behind', async (t) => {
  const soak = fileURLToPath(new URL('./lab/soak/run.js', import.meta.url))
  const child = spawn(process.execPath, [soak, String(9 / 60)], { stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => child.kill())
  const [words, complained, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  t.equal(code, 0, words + complained)
  t.match(words, /passed\n$/)
})

t.test('a caller lets go of a line that rests before the gateway closes it', async (t) => {
  const { base, key, server } = await running(t, memory())
  const callers = callersOf(base, [key])
  t.teardown(() => callers.close())
  const caller = callers.take()
  const { status } = await ask(caller, '/v1/models', { method: 'GET' }, new AbortController().signal)
  t.equal(status, 200)
  // The answer of a call that is on its way when the line is closed would be a reset.
  const resting = Object.values(caller.agent.freeSockets).flatMap((sockets) => sockets ?? [])
  t.equal(resting.length, 1)
  for (const { timeout = 0 } of resting) t.ok(timeout > 0 && 2 * timeout < server.keepAliveTimeout, `${timeout} ms`)
})
