import './fakes/unwatched.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'

t.test('ten seconds of everything at once, much of it left early, leave nothing behind', async (t) => {
  const soak = fileURLToPath(new URL('./lab/soak/run.js', import.meta.url))
  const child = spawn(process.execPath, [soak, String(9 / 60)], { stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => child.kill())
  const [said, complained, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  t.equal(code, 0, said + complained)
  t.match(said, /passed\n$/)
})
