import { execFileSync } from 'node:child_process'
import { link, mkdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { fileOpener, rootsOf } from '../../../../adapters/local/mcp/roots.ts'
import { folderOf } from '../../../helpers.ts'

const env = { XDG_CONFIG_HOME: '/nowhere' }

/** A folder that is allowed, and one beside it that is not. */
const stage = async (t: Test) => {
  const folder = await realpath(await folderOf(t))
  const [root, outside] = [join(folder, 'root'), join(folder, 'outside')]
  await mkdir(join(root, 'sub'), { recursive: true })
  await mkdir(outside)
  await writeFile(join(root, 'sub', 'a.txt'), 'inside')
  await writeFile(join(outside, 'a.txt'), 'outside')
  const roots = await rootsOf([root])
  const read = async (path: string, hidden = false): Promise<string> => {
    const { handle } = await fileOpener(roots, hidden, env)(path)
    try {
      return await handle.readFile('utf8')
    } finally {
      await handle.close()
    }
  }
  return { root, outside, roots, read }
}

t.test('files under a root are opened, by any of their spellings', async (t) => {
  const { root, read } = await stage(t)
  const path = join(root, 'sub', 'a.txt')
  for (const given of [path, 'sub/a.txt', './sub/../sub/a.txt', pathToFileURL(path).href])
    t.equal(await read(given), 'inside', given)
})

t.test('a root that is named over a link is the folder behind it', async (t) => {
  const { root, outside } = await stage(t)
  const way = join(outside, 'way')
  await symlink(root, way)
  const open = fileOpener(await rootsOf([way]), false, env)
  const { handle, path } = await open(join(way, 'sub', 'a.txt'))
  await handle.close()
  t.equal(path, join(root, 'sub', 'a.txt'))
})

t.test('paths out of the roots are refused', async (t) => {
  const { root, outside, read } = await stage(t)
  await writeFile(`${root}-beside.txt`, 'outside')
  const away = { message: 'The path is outside the folders that are allowed' }
  for (const given of [
    join(outside, 'a.txt'),
    '../outside/a.txt',
    'sub/../../outside/a.txt',
    `${root}-beside.txt`,
    '/etc/passwd',
    '/proc/self/environ',
    pathToFileURL(join(outside, 'a.txt')).href,
    root,
    '',
  ])
    await t.rejects(read(given), away, given)
  await t.rejects(read('sub/a.txt\0/../../x'), { message: 'There is no such file' })
  await t.rejects(fileOpener([], true, env)(join(root, 'sub', 'a.txt')), /No folder is allowed/)
  await t.rejects(rootsOf([join(root, 'sub', 'a.txt')]), { message: '--root names a folder' })
  await t.rejects(rootsOf([join(root, 'none')]), { message: '--root names a folder' })
})

t.test('links are refused, wherever they stand in the path', async (t) => {
  const { root, outside, read } = await stage(t)
  await symlink(join(outside, 'a.txt'), join(root, 'last.txt'))
  await symlink(outside, join(root, 'middle'))
  await symlink(join(root, 'sub'), join(root, 'within'))
  await writeFile(join(outside, 'b.txt'), 'outside')
  await link(join(outside, 'b.txt'), join(root, 'second.txt'))
  const links = { message: 'The path leads over a link, or changed while it was opened' }
  for (const given of ['last.txt', 'middle/a.txt', 'within/a.txt'])
    for (const hidden of [false, true]) await t.rejects(read(given, hidden), links, given)
  await t.rejects(read('second.txt'), { message: 'The file has more than one name' })
})

t.test('devices, pipes, sockets and folders are refused, and a pipe blocks no call', async (t) => {
  const { root, read } = await stage(t)
  execFileSync('mkfifo', [join(root, 'pipe')])
  const server = createServer().listen(join(root, 'socket'))
  await once(server, 'listening')
  t.teardown(() => void server.close())
  const plain = { message: 'The path is no plain file' }
  for (const given of ['pipe', 'socket', 'sub']) await t.rejects(read(given), plain, given)
  const devices = fileOpener(await rootsOf(['/dev']), false, env)
  for (const given of ['null', 'zero', 'tty']) await t.rejects(devices(given), plain, given)
})

t.test('hidden and git-ignored files are refused unless they are allowed', async (t) => {
  const { root, read } = await stage(t)
  await mkdir(join(root, '.keys'))
  await writeFile(join(root, '.keys', 'a.txt'), 'hidden')
  await writeFile(join(root, '.env'), 'hidden')
  await writeFile(join(root, '.gitignore'), 'secret*\n!secret-not\n')
  await writeFile(join(root, 'sub', 'secret.txt'), 'ignored')
  await writeFile(join(root, 'sub', 'secret-not'), 'seen')
  for (const given of ['.env', '.keys/a.txt']) {
    await t.rejects(read(given), /hidden/, given)
    t.equal(await read(given, true), 'hidden')
  }
  await t.rejects(read('sub/secret.txt'), /Git ignores/)
  t.equal(await read('sub/secret.txt', true), 'ignored')
  t.equal(await read('sub/secret-not'), 'seen')
})

const flipping = `
const { renameSync } = require('node:fs')
const { workerData: { real, spare, way } } = require('node:worker_threads')
for (;;) {
  renameSync(real, spare)
  renameSync(way, real)
  renameSync(real, way)
  renameSync(spare, real)
}`

t.test('a folder that turns into a link while its file is opened shows nothing from outside', async (t) => {
  const { root, outside, roots } = await stage(t)
  const [real, spare, way] = [join(root, 'sub'), join(root, 'spare'), join(root, 'way')]
  await symlink(outside, way)
  const worker = new Worker(flipping, { eval: true, workerData: { real, spare, way } })
  t.teardown(() => worker.terminate())
  const open = fileOpener(roots, true, env)
  const seen = { inside: 0, outside: 0, refused: 0 }
  const ends = Date.now() + 20_000
  for (let tries = 0; tries < 3000 || (seen.inside === 0 && Date.now() < ends); tries++) {
    const file = await open('sub/a.txt').catch(() => null)
    if (file === null) seen.refused++
    else {
      seen[(await file.handle.readFile('utf8')) as 'inside' | 'outside']++
      await file.handle.close()
    }
  }
  t.equal(seen.outside, 0)
  t.ok(seen.inside > 0 && seen.refused > 0, 'both were met')
})

t.test('the opened file is the file that is read', async (t) => {
  const { root, roots } = await stage(t)
  const path = join(root, 'sub', 'a.txt')
  const { handle } = await fileOpener(roots, false, env)(path)
  await writeFile(`${path}.new`, 'another')
  execFileSync('mv', [`${path}.new`, path])
  t.equal(await handle.readFile('utf8'), 'inside')
  await handle.close()
  t.equal(await readFile(path, 'utf8'), 'another')
})
