import './fakes/unwatched.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { connect, newKek } from '../plugins/sealed/client/client.ts'
import { folderOf } from './helpers.ts'

const docx = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
const page = await readFile('docs/bundling.md', 'utf8')

/** A file that the page shows. */
const shown = (name: string): string => {
  const [, code] = new RegExp(`<!-- file ${name} -->\n\`\`\`js\n(.*?)\n\`\`\``, 's').exec(page) ?? []
  if (code === undefined) throw new Error(`The page shows no ${name}`)
  return code
}

/** Bundles the server of the page by the script of the page, as a reader would. */
const bundled = async (t: Test): Promise<string> => {
  const folder = await folderOf(t)
  const packages = join(folder, 'node_modules')
  await mkdir(packages)
  await symlink(resolve('.'), join(packages, 'sealgate'))
  await symlink(resolve('node_modules/esbuild'), join(packages, 'esbuild'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  for (const name of ['server.js', 'bundle.js']) await writeFile(join(folder, name), shown(name))
  const bundling = spawn(process.execPath, ['bundle.js'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  const [status] = (await once(bundling, 'exit')) as [number]
  t.equal(status, 0, 'the script of the page bundles')
  return readFile(join(folder, 'server.mjs'), 'utf8')
}

/** Starts a bundle in a folder where nothing else is, but for the package where it `hasPackage`. */
const served = async (t: Test, code: string, hasPackage: boolean) => {
  const folder = await folderOf(t)
  if (hasPackage) {
    await mkdir(join(folder, 'node_modules'))
    await symlink(resolve('.'), join(folder, 'node_modules/sealgate'))
  }
  await writeFile(join(folder, 'server.mjs'), code)
  const server = spawn(process.execPath, ['server.mjs'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => void server.kill('SIGKILL'))
  for await (const line of createInterface({ input: server.stdout })) {
    const [, port, key] = /^http:\/\/127\.0\.0\.1:(\d+) (sk_\S+)$/.exec(line) ?? []
    if (port === undefined || key === undefined) continue
    const baseUrl = `http://127.0.0.1:${port}`
    const ask = (path: string, body?: object) =>
      fetch(baseUrl + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
    return { ask, baseUrl, key }
  }
  throw new Error('The bundle ended before it served')
}

/** The text of a file that a reader in a process of its own reads. */
const readBy = async ({ baseUrl, key: apiKey }: { readonly baseUrl: string; readonly key: string }) => {
  const client = connect({ baseUrl, apiKey, kek: newKek(), policy: { allowInsecureDev: true } })
  const bytes = await readFile('test/vectors/files/docx/harvest.docx')
  const { id } = await client.files.upload({ name: 'report.docx', mime: docx, bytes })
  return client.tools.call('getTextDocumentContent', { fileId: id }).then(JSON.stringify, ({ code }) => code)
}

const messages = [{ role: 'user', content: 'Is this one file?' }]

t.test('one file, made as the page says, serves without the package', { timeout: 120_000 }, async (t) => {
  const code = await bundled(t)
  const one = await served(t, code, false)
  const alone = one.ask
  const chat = await alone('/v1/chat/completions', { model: 'rehearsal', messages })
  t.match(await chat.json(), { choices: [{ message: { content: /Is this one file\?/ } }] })
  for (const [path, says] of [
    ['/docs', /<h2>/],
    ['/openapi.json', /"openapi":"3\.1/],
    ['/llms.txt', /^# /],
    ['/tools', /countWords|getTime/],
  ] as const) {
    const answer = await alone(path)
    t.equal(answer.status, 200, path)
    t.match(await answer.text(), says, path)
  }
  const missing = await alone('/console')
  t.equal(missing.status, 503)
  t.match(await missing.json(), { error: 'A bundle has no files of the package: install sealgate beside it' })

  t.equal(await readBy(one), 'unavailable', 'a reader in a process of its own has no code')

  const other = await served(t, code, true)
  const beside = other.ask
  const console = await beside('/console')
  t.equal(console.status, 200, 'the console comes from the package beside the bundle')
  const [, script = ''] = /<link rel="modulepreload" href="([^"]+)"/.exec(await console.text()) ?? []
  t.equal((await beside(`/${script}`)).status, 200, 'and so do its scripts')
  t.match(await readBy(other), /Boskoop/, 'and the readers')
})
