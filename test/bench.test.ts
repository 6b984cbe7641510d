import './fakes/unwatched.ts'
import { readdir } from 'node:fs/promises'
import t from 'tap'
import { start } from './bench/measure.ts'

t.test('whatever the benches measure starts', async (t) => {
  const key = `sk_live_${'2'.repeat(44)}`
  const env = { KEY: key, KEYS: key, FOLDER: t.testdir(), UPSTREAM: 'http://127.0.0.1:1' }
  const files = await readdir(new URL('./bench/subjects/', import.meta.url))
  const names = files.flatMap((file) => /^(?!answering)(.+)\.js$/.exec(file)?.[1] ?? [])
  t.ok(names.length > 7)
  for (const name of names) {
    const it = await start(name, env)
    t.ok((await it.cpu()) > 0, name)
    await it.stop()
  }
  await t.rejects(start('nothing'), { message: 'nothing ended with 1' })
})
