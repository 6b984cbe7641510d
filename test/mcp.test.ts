import './fakes/unwatched.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, readdir, realpath, rmdir, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { buffer, text as textOf } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import * as v from 'valibot'
import { newKek, newRagDek } from '../plugins/sealed/client/client.ts'
import type { Tool } from '../core/ports/tool.ts'
import { type Agent, agent, modes, toolHouse } from './fakes/agent.ts'
import { opensHttp } from './fakes/listening.ts'
import { program, served } from './fakes/served.ts'
import { filesIn, traces } from './fakes/traces.ts'
import { folderOf } from './helpers.ts'

const dev = '--allow-insecure-dev'

/** Results that the client could open: what each part says, and where links lead. */
interface Result {
  readonly isError?: boolean | undefined
  readonly content: readonly { readonly type: string; readonly text?: string; readonly uri?: string }[]
}

const call = async (agent: Agent, name: string, args: Record<string, unknown> = {}): Promise<Result> =>
  (await agent.client.callTool({ name, arguments: args })) as Result

const said = ({ content }: Result): string => content[0]?.text ?? ''

/** A tool that waits until it is stopped, and one whose result is huge. */
const played = () => {
  const stopped: string[] = []
  const begun: string[] = []
  const ears: (() => void)[] = []
  const params = v.object({ query: v.string() })
  const slow: Tool<typeof params> = {
    name: 'webSearchTool',
    kind: 'simple',
    description: 'Waits',
    params,
    async run({ query }, signal) {
      begun.push(query)
      for (const ear of ears.splice(0)) ear()
      await once(signal, 'abort')
      stopped.push(query)
      for (const ear of ears.splice(0)) ear()
      throw signal.reason
    },
  }
  const address = v.object({ url: v.string() })
  const huge: Tool<typeof address> = {
    name: 'webPageScraperTool',
    kind: 'simple',
    description: 'Says much',
    params: address,
    run: async () => ({ text: 'ä𝒳'.repeat(300_000), end: 'the-very-end' }),
  }
  const heard = async (list: readonly string[], query: string): Promise<void> => {
    while (!list.includes(query)) await new Promise<void>((resolve) => ears.push(resolve))
  }
  return {
    tools: [slow, huge] as const,
    begins: (text: string) => heard(begun, text),
    stops: (text: string) => heard(stopped, text),
  }
}

/** A folder that is allowed, one for results, and a file of keys. */
const places = async (t: Test) => {
  const folder = await realpath(await folderOf(t))
  const [root, out, keys] = [join(folder, 'root'), join(folder, 'out'), join(folder, 'keys.json')]
  await mkdir(root)
  const kek = newKek()
  await writeFile(keys, JSON.stringify({ kek, wrapped_rag_dek: newRagDek(kek) }), { mode: 0o600 })
  return { folder, root, out, keys }
}

for (const [revision, mode] of Object.entries(modes))
  t.test(`an agent of ${revision} lists and calls sealed tools, with files in and out`, async (t) => {
    const house = await toolHouse(t, played().tools)
    const { root, out, keys } = await places(t)
    await writeFile(join(root, 'heron.md'), '# Herons\n\nThe heron waits.')
    const args = [dev, '--root', root, '--out', out, '--keys', keys]
    const session = await agent(t, house.base, house.key, { args, mode })
    t.equal(session.client.getServerVersion()?.name, 'sealgate')

    const { tools } = await session.client.listTools()
    t.equal(tools.length, 24, 'nineteen tools, decisions, and four of files')
    t.same(JSON.stringify(tools), JSON.stringify((await session.client.listTools()).tools), 'one order')
    t.ok(JSON.stringify(tools).length < 12_000, 'short')
    t.match(tools.find(({ name }) => name === 'removeFile')?.annotations, {
      readOnlyHint: false,
      destructiveHint: true,
    })
    t.match(tools.find(({ name }) => name === 'getPDFContent')?.annotations, { readOnlyHint: true })

    t.match(said(await call(session, 'getTime', { timezone: 'Asia/Kolkata' })), /"offset":"\+05:30"/)
    t.match(said(await call(session, 'getTextDocumentContent', { file: 'heron.md' })), /The heron waits\./)

    const made = await call(session, 'createFileForUser', {
      fileName: '../../escape',
      fileExtension: 'md',
      fileContent: 'words',
      mimeType: 'text/markdown',
    })
    const path = fileURLToPath(made.content[1]?.uri ?? '')
    t.equal(dirname(path), out, 'in its folder, whatever the name')
    t.equal(await readFile(path, 'utf8'), 'words')
    t.equal((await stat(path)).mode & 0o777, 0o600)
    t.match(await readdir(root), ['heron.md'], 'nothing is put under a root')

    const { id } = JSON.parse(said(await call(session, 'storeFile', { file: join(root, 'heron.md') }))) as {
      id: string
    }
    t.match(said(await call(session, 'listFiles')), id)
    const fetched = await call(session, 'fetchFile', { id })
    t.equal(await readFile(fileURLToPath(fetched.content[1]?.uri ?? ''), 'utf8'), '# Herons\n\nThe heron waits.')
    await call(session, 'removeFile', { id })
    t.match(await call(session, 'fetchFile', { id }), { isError: true })
    const stored = JSON.parse(said(await call(session, 'storeFile', { file: 'heron.md' }))) as { id: string }
    t.not(stored.id, id, 'a file that was removed is stored anew')
    t.match(said(await call(session, 'listFiles')), stored.id)
    t.match(
      said(await call(session, 'getTextDocumentContent', { file: 'heron.md' })),
      /waits/,
      'sent once more, since it is gone',
    )

    t.match(await call(session, 'getTime', {}), { isError: true, content: [{ text: /timezone/ }] })
    t.match(await call(session, 'getTime', { timezone: 'UTC', more: 1 }), { isError: true })
    t.match(await call(session, 'getTime', { timezone: 'Nowhere/None' }), {
      isError: true,
      content: [{ text: /enclave/ }],
    })
    await t.rejects(call(session, 'none'), { code: -32602 })
    t.equal(session.said(), '', 'nothing on standard error')
  })

t.test('the tools that were wished for are offered alone, and odd wishes end the start', async (t) => {
  const house = await toolHouse(t, [])
  const { root } = await places(t)
  const session = await agent(t, house.base, house.key, { args: [dev, '--tools', 'searchRag,getTime'] })
  t.same(
    (await session.client.listTools()).tools.map(({ name }) => name),
    ['getTime', 'searchRag'],
    'in the order of all',
  )
  await t.rejects(call(session, 'webSearchTool', { query: 'x' }), { code: -32602 })
  for (const [args, words] of [
    [['--tools', 'getTime,none'], /--tools is a list of getTime/],
    [['--root', join(root, 'none')], /--root names a folder/],
    [['--root', root, '--out', join(root, 'out')], /--out names a folder outside every --root/],
  ] as const) {
    const child = spawn(process.execPath, [program, 'mcp', '--base-url', house.base, '--key', 'k', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [out, error, [code]] = await Promise.all([textOf(child.stdout), textOf(child.stderr), once(child, 'exit')])
    t.equal(code, 1)
    t.match(error, words)
    t.equal(out, '', 'standard output is the protocol alone')
  }
})

t.test('nothing is offered before the enclave is proven, and the error names the rule', async (t) => {
  const house = await toolHouse(t, [])
  const asked = () => house.logged.filter(({ facts }) => String(facts['route']).startsWith('POST /tools')).length
  for (const mode of Object.values(modes)) {
    const session = await agent(t, house.base, house.key, { mode })
    const refused = { code: -32000, message: /development one and proves nothing; --allow-insecure-dev/ }
    await t.rejects(session.client.listTools(), refused)
    await t.rejects(call(session, 'getTime', { timezone: 'UTC' }), refused)
  }
  const elsewhere = await agent(t, 'http://127.0.0.1:1', house.key, { args: [dev] })
  await t.rejects(elsewhere.client.listTools(), { message: /could not be reached/ })
  const strange = await agent(t, house.base, 'sk-none', { args: [dev] })
  await t.rejects(strange.client.listTools(), { message: /API key/ })
  t.equal(asked(), 0, 'no tool was asked')
})

t.test('what is refused is never sent', async (t) => {
  const house = await toolHouse(t, [])
  const { root, folder } = await places(t)
  await writeFile(join(folder, 'secret.txt'), 'secret')
  await symlink(join(folder, 'secret.txt'), join(root, 'way.txt'))
  await writeFile(join(root, '.env'), 'secret')
  const session = await agent(t, house.base, house.key, { args: [dev, '--root', root] })
  for (const file of ['../secret.txt', join(folder, 'secret.txt'), 'way.txt', '.env', '/dev/zero', '/etc/passwd'])
    t.match(await call(session, 'getTextDocumentContent', { file }), { isError: true }, file)
  const none = await agent(t, house.base, house.key, { args: [dev] })
  t.match(await call(none, 'storeFile', { file: join(root, '.env') }), {
    isError: true,
    content: [{ text: /No folder is allowed/ }],
  })
  t.equal(house.logged.filter(({ facts }) => facts['route'] === 'POST /files/encrypted/upload').length, 0)
})

t.test('the same content goes once: twice at once, under another name, and after a restart', async (t) => {
  const house = await toolHouse(t, [])
  const uploads = () => house.logged.filter(({ facts }) => facts['route'] === 'POST /files/encrypted/upload').length
  const { root, keys } = await places(t)
  await writeFile(join(root, 'a.txt'), 'The heron waits.')
  await writeFile(join(root, 'b.txt'), 'The heron waits.')
  const args = [dev, '--root', root, '--keys', keys]
  const first = await agent(t, house.base, house.key, { args })
  const read = (agent: Agent, file: string) => call(agent, 'getTextDocumentContent', { file })
  for (const result of await Promise.all([read(first, 'a.txt'), read(first, 'a.txt'), read(first, 'b.txt')]))
    t.match(said(result), /heron/)
  t.equal(uploads(), 1)
  await first.client.close()
  const second = await agent(t, house.base, house.key, { args })
  t.match(said(await read(second, 'b.txt')), /heron/)
  t.equal(uploads(), 1)
  const kept = await readFile(`${keys}.sent.memory`, 'utf8')
  t.notMatch(kept, /heron|a\.txt/)
  t.equal((await stat(`${keys}.sent.memory`)).mode & 0o777, 0o600)
  await writeFile(join(root, 'a.txt'), 'The heron left.')
  t.match(said(await read(second, 'a.txt')), /left/)
  t.equal(uploads(), 2)
})

t.test('a memory of sent files that fails once fails one call, and a damaged one is named at the start', async (t) => {
  const house = await toolHouse(t, [])
  const { root, keys } = await places(t)
  const memory = `${keys}.sent.memory`
  for (const name of ['a', 'b']) await writeFile(join(root, `${name}.txt`), `The heron of ${name}`)
  const args = [dev, '--root', root, '--keys', keys]
  const session = await agent(t, house.base, house.key, { args })
  const read = (file: string) => call(session, 'getTextDocumentContent', { file })
  await session.client.listTools()
  await mkdir(memory)
  t.match(await read('a.txt'), { isError: true })
  await rmdir(memory)
  t.match(said(await read('b.txt')), /heron of b/)
  t.equal(Object.keys(JSON.parse(await readFile(memory, 'utf8'))).length, 2, 'the next save has every id')

  for (const damaged of ['{"heron', 'null', '{"heron":1}']) {
    await writeFile(memory, damaged)
    const child = spawn(process.execPath, [program, 'mcp', '--base-url', house.base, '--key', 'k', ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const [error, [code]] = await Promise.all([textOf(child.stderr), once(child, 'exit')])
    t.equal(error, `sealgate: ${memory} is damaged; without it, each file is sent once more\n`)
    t.equal(code, 1)
  }
})

t.test('without keys, files are those of the session and leave with it', async (t) => {
  const house = await toolHouse(t, [])
  const { root } = await places(t)
  await writeFile(join(root, 'a.txt'), 'The heron waits.')
  const session = await agent(t, house.base, house.key, { args: [dev, '--root', root] })
  t.match(said(await call(session, 'getTextDocumentContent', { file: 'a.txt' })), /heron/)
  const routes = () => house.logged.map(({ facts }) => String(facts['route']))
  t.notOk(routes().includes('DELETE /files/encrypted/{id}'))
  await session.client.close()
  await session.gone
  t.ok(routes().includes('DELETE /files/encrypted/{id}'))
})

t.test('a huge result is resources, page by page', async (t) => {
  const house = await toolHouse(t, played().tools)
  for (const mode of Object.values(modes)) {
    const session = await agent(t, house.base, house.key, { args: [dev], mode })
    const { content } = await call(session, 'webPageScraperTool', { url: 'http://x' })
    t.ok(said({ content }).length <= 4_000)
    t.match(content[1]?.text, /^The result has 9000\d\d characters/)
    const links = content.filter(({ type }) => type === 'resource_link')
    t.same(
      (await session.client.listResources()).resources.map(({ uri }) => uri),
      links.map(({ uri }) => uri),
    )
    let whole = ''
    for (const { uri = '' } of links)
      for (const page of (await session.client.readResource({ uri })).contents) {
        const text = 'text' in page ? page.text : ''
        t.notOk(/[\ud800-\udbff]$/.test(text.slice(-1)), 'no character is cut')
        whole += text
      }
    t.ok(whole === JSON.stringify({ text: 'ä𝒳'.repeat(300_000), end: 'the-very-end' }), 'all of it')
    await t.rejects(session.client.readResource({ uri: 'sealgate://results/9/9' }), { code: -32602 })
    await t.rejects(session.client.readResource({ uri: 'file:///etc/passwd' }), { code: -32602 })
  }
})

t.test('progress is told where it is asked for, and never goes back', async (t) => {
  const house = await toolHouse(t, [])
  const { root } = await places(t)
  await writeFile(join(root, 'long.txt'), 'word '.repeat(1_000_000))
  for (const mode of Object.values(modes)) {
    const session = await agent(t, house.base, house.key, { args: [dev, '--root', root], mode })
    const told: number[] = []
    const onprogress = ({ progress, total }: { progress: number; total?: number | undefined }) =>
      void (told.push(progress), t.equal(total, 5_000_000))
    await session.client.callTool({ name: 'storeFile', arguments: { file: 'long.txt' } }, { onprogress })
    t.ok(told.length > 10 && told.length <= 101)
    t.same(
      told,
      [...told].sort((one, other) => one - other),
    )
    t.equal(told.at(-1), 5_000_000)
  }
})

t.test('a call that the agent cancels stops in the enclave, and the next is served', async (t) => {
  const { tools, begins, stops } = played()
  const house = await toolHouse(t, tools)
  for (const [revision, mode] of Object.entries(modes)) {
    const session = await agent(t, house.base, house.key, { args: [dev], mode })
    const abort = new AbortController()
    const slow = session.client.callTool(
      { name: 'webSearchTool', arguments: { query: revision } },
      { signal: abort.signal },
    )
    await begins(revision)
    abort.abort(new Error('enough'))
    await t.rejects(slow)
    await stops(revision)
    t.match(said(await call(session, 'getTime', { timezone: 'UTC' })), /"timezone":"UTC"/)
  }
})

t.test('an agent that is killed in the middle leaves no command and no call behind', async (t) => {
  const { tools, begins, stops } = played()
  const house = await toolHouse(t, tools)
  const command = [program, 'mcp', '--base-url', house.base, '--key', house.key, dev]
  const between = `
const { spawn } = require('node:child_process')
const child = spawn(process.execPath, ${JSON.stringify(command)}, { stdio: ['pipe', 'ignore', 'inherit'] })
child.stdin.write(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'webSearchTool', arguments: { query: 'killed' } } }) + '\\n')
console.log(child.pid)
setInterval(() => {}, 1000)`
  const killed = spawn(process.execPath, ['--eval', between], { stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => killed.kill('SIGKILL'))
  // The command holds this end open for as long as it runs.
  const over = textOf(killed.stderr)
  await begins('killed')
  killed.kill('SIGKILL')
  await stops('killed')
  t.equal(await over, '', 'the command is gone, without a word')
})

t.test('a lost enclave is an error that says so; the next one is proven and served', async (t) => {
  const house = await toolHouse(t, [])
  const session = await agent(t, house.base, house.key, { args: [dev] })
  const time = () => call(session, 'getTime', { timezone: 'UTC' })
  t.match(said(await time()), /UTC/)
  house.lose()
  t.match(await time(), { isError: true, content: [{ text: /temporarily unavailable/ }] })
  house.restart()
  t.match(said(await time()), /"timezone":"UTC"/)
})

t.test('a gateway that restarts under it; and nothing of it is readable at the gateway', async (t) => {
  const { root, keys, out, folder } = await places(t)
  const data = join(folder, 'data')
  await mkdir(data)
  const marks = ['canaryqheron', 'canaryqname', 'canaryqmade', 'canaryqzone', 'canaryqtext']
  await writeFile(join(root, 'canaryqname.txt'), 'canaryqheron waits')
  const env = { SEALGATE_DATA: data, SEALGATE_LOG: 'info' }
  const one = await served(env)
  t.teardown(() => one.child.kill('SIGKILL'))
  const { key } = one
  const session = await agent(t, one.base, key, { args: [dev, '--root', root, '--keys', keys, '--out', out] })
  const work = async () => {
    t.match(said(await call(session, 'getTextDocumentContent', { file: 'canaryqname.txt' })), /canaryqheron/)
    t.match(await call(session, 'getTime', { timezone: 'canaryqzone' }), { isError: true })
    const [fileName, fileContent] = ['canaryqmade', 'canaryqtext']
    await call(session, 'createFileForUser', { fileName, fileExtension: 'txt', fileContent, mimeType: 'text/plain' })
  }
  await work()
  await one.stop('SIGTERM')
  t.match(await call(session, 'getTime', { timezone: 'UTC' }), {
    isError: true,
    content: [{ text: /could not be reached/ }],
  })
  const two = await served({ ...env, PORT: new URL(one.base).port })
  t.teardown(() => two.child.kill('SIGKILL'))
  await work()
  await two.stop('SIGTERM')
  const seen = await filesIn(data)
  seen.set('log', Buffer.from(one.said + two.said))
  t.ok(seen.size > 3 && two.said.includes('tools'), 'there is something to search')
  t.same(traces(marks, seen), [])
  t.ok(traces(marks, await filesIn(folder)).length > 0, 'the search finds what is there')
})

/** Somebody between, who does something before a request goes on, and changes answers. */
const between = async (
  t: Test,
  base: string,
  met: (url: string) => Promise<void>,
  change: (url: string, told: string) => string,
) => {
  const server = createServer(async (request, response) => {
    const [url, body] = [request.url ?? '', await buffer(request)]
    await met(url)
    const headers = {
      authorization: request.headers.authorization ?? '',
      'content-type': request.headers['content-type'] ?? '',
    }
    const asked = request.method === 'GET' ? {} : { body }
    const answer = await fetch(base + url, { method: request.method ?? 'GET', headers, ...asked })
    const told = change(url, await answer.text())
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(told)
  })
  return opensHttp(t, server)
}

t.test('a file that changes while it is sent is refused, and nothing of it stays', async (t) => {
  const house = await toolHouse(t, [])
  const { root } = await places(t)
  await writeFile(join(root, 'a.txt'), 'The heron waits.')
  const changing = async (url: string) => {
    if (url === '/files/encrypted/upload') await writeFile(join(root, 'a.txt'), 'The heron moves.')
  }
  const base = await between(t, house.base, changing, (_, told) => told)
  const session = await agent(t, base, house.key, { args: [dev, '--root', root] })
  t.match(await call(session, 'storeFile', { file: 'a.txt' }), {
    isError: true,
    content: [{ text: /changed while it was read/ }],
  })
  t.match(JSON.parse(said(await call(session, 'listFiles'))), { total: 0, files: [] })
  t.ok(house.logged.some(({ facts }) => facts['route'] === 'DELETE /files/encrypted/{id}'))
})

t.test('somebody between who changes evidence gets nothing', async (t) => {
  const house = await toolHouse(t, [])
  const sent: string[] = []
  const isEvidence = (url: string) => url.startsWith('/rvenc/attestation')
  const changed = (url: string, told: string) => (isEvidence(url) ? told.replace(/"keyset":"../, '"keyset":"00') : told)
  const base = await between(t, house.base, async (url) => void sent.push(url), changed)
  const session = await agent(t, base, house.key, { args: [dev] })
  await t.rejects(call(session, 'getTime', { timezone: 'canaryqzone' }), { message: /could not be verified \(/ })
  t.ok(sent.some(isEvidence))
  t.same(
    sent.filter((url) => !isEvidence(url)),
    [],
  )
})
