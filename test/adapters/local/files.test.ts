import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { memory } from '../../../adapters/memory/index.ts'
import { files } from '../../../adapters/local/files.ts'
import { writeKeys } from '../../../adapters/local/key-file.ts'
import { connect, newKek } from '../../../plugins/sealed/client/client.ts'
import { running } from '../../environments.ts'

t.test('files put names the file that is over the quota, and the quota', async (t) => {
  const folder = t.testdir()
  for (const [quota, told] of [
    [{ bytes: 10 }, '10 bytes'],
    [{ files: 1 }, '1 files'],
  ] as const) {
    const gateway = await running(t, memory(), { files: { quota } })
    const keys = join(folder, `${Object.keys(quota)}.json`)
    await writeKeys(keys, { kek: newKek(), wrapped_rag_dek: null }, false)
    const env = { SEALGATE_URL: gateway.base, SEALGATE_KEY: gateway.key, SEALGATE_KEYS: keys }
    const names = ['first.txt', 'second.txt']
    for (const name of names) await writeFile(join(folder, name), `What ${name} says about ${Object.keys(quota)}`)
    const over = 'files' in quota ? 'second.txt' : 'first.txt'
    await t.rejects(files(['put', ...names.map((name) => join(folder, name))], env), {
      message: new RegExp(`^${over}: .*storage of the organisation .*\\b${told}\\b`),
    })
  }
})

t.test('files rm removes all that are there, and names the missing ones', async (t) => {
  const gateway = await running(t, memory())
  const keys = join(t.testdir(), 'keys.json')
  const kek = newKek()
  await writeKeys(keys, { kek, wrapped_rag_dek: null }, false)
  const { files: own } = connect({ baseUrl: gateway.base, apiKey: gateway.key, kek })
  const ids = []
  for (const name of ['a', 'b']) ids.push((await own.upload({ name, bytes: Buffer.from(name) })).id)
  const env = { SEALGATE_URL: gateway.base, SEALGATE_KEY: gateway.key, SEALGATE_KEYS: keys }
  await t.rejects(files(['rm', 'file_x', ids[0]!, 'file_y', ids[1]!], env), {
    message: 'There is no such file: file_x, file_y',
  })
  t.equal((await own.list()).total, 0)
  await t.rejects(
    files(['rm', 'file_x'], { ...env, SEALGATE_KEY: 'wrong' }),
    { message: /key is missing/ },
    'other faults end it',
  )
})

t.test('files get writes a file whose name is as long as the system takes', async (t) => {
  const folder = t.testdir()
  const gateway = await running(t, memory())
  const keys = join(folder, 'keys.json')
  const kek = newKek()
  await writeKeys(keys, { kek, wrapped_rag_dek: null }, false)
  const bytes = Buffer.from('A long name, and few words')
  const { id } = await connect({ baseUrl: gateway.base, apiKey: gateway.key, kek }).files.upload({ name: 'a', bytes })
  const env = { SEALGATE_URL: gateway.base, SEALGATE_KEY: gateway.key, SEALGATE_KEYS: keys }
  const name = `${'é'.repeat(125)}.html`
  await files(['get', id, '--out', join(folder, name)], env)
  t.ok((await readFile(join(folder, name))).equals(bytes))
  t.same(
    (await readdir(folder)).filter((one) => one.endsWith('.part')),
    [],
  )
})

t.test('names of files reach a terminal and a disk without control characters', async (t) => {
  const folder = t.testdir()
  const gateway = await running(t, memory())
  const keys = join(folder, 'keys.json')
  const kek = newKek()
  await writeKeys(keys, { kek, wrapped_rag_dek: null }, false)
  const name = 'a\u001b[31m\nfile_fake\u009b31m.txt'
  const { files: own } = connect({ baseUrl: gateway.base, apiKey: gateway.key, kek })
  const { id } = await own.upload({ name, bytes: Buffer.from('words') })
  await writeFile(join(folder, 'again.txt'), 'words')
  const env = { SEALGATE_URL: gateway.base, SEALGATE_KEY: gateway.key, SEALGATE_KEYS: keys }
  const written = t.capture(process.stdout, 'write', () => true)
  await files(['ls'], env)
  await files(['put', join(folder, 'again.txt')], env)
  const before = process.cwd()
  process.chdir(folder)
  await files(['get', id], env).finally(() => process.chdir(before))
  const [listed = '', put = '', got = ''] = written().map(({ args }) => String(args[0]))
  t.match(listed, /^file_[^\n]*\ta\?\[31m\?file_fake\?31m\.txt\n$/)
  t.match(put, /^file_[^\n]*\ta\?\[31m\?file_fake\?31m\.txt\t\(already there\)\n$/)
  t.equal(got, 'a_[31m_file_fake_31m.txt\n')
  t.ok((await readdir(folder)).includes('a_[31m_file_fake_31m.txt'))
})
