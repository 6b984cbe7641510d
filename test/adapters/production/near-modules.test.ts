import '../../fakes/unwatched.ts'
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import module from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'

const near = (path: string): string => new URL(`../../../${path}`, import.meta.url).href

const isOwn = (url: string): boolean => url.startsWith(near('')) && !url.includes('/node_modules/')

interface Asked {
  readonly searched: readonly { readonly specifier: string; readonly by: string }[]
  readonly read: readonly string[]
}

/** What Node itself is asked to search and to read, when a program imports the given modules. */
const askedOfNode = (...imports: readonly string[]): Asked => {
  const code = `
    import { registerHooks } from 'node:module'
    import { loadNearModules } from '${near('adapters/production/near-modules.js')}'
    const asked = { searched: [], read: [] }
    registerHooks({
      resolve(specifier, context, next) {
        asked.searched.push({ specifier, by: context.parentURL })
        return next(specifier, context)
      },
      load(url, context, next) {
        asked.read.push(url)
        return next(url, context)
      },
    })
    loadNearModules()
    for (const it of ${JSON.stringify(imports)}) await import(it)
    console.log(JSON.stringify(asked))`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', code])
  t.equal(stderr.toString(), '')
  return JSON.parse(stdout.toString())
}

const isOld = !('registerHooks' in module) && 'this Node has no synchronous hooks'

t.test('Node searches and reads no module of the package', { skip: isOld }, (t) => {
  const entry = near('core/container.js')
  const { searched, read } = askedOfNode(entry)
  t.same(
    searched.filter(({ specifier, by }) => specifier.startsWith('.') && isOwn(by)),
    [],
    'a relative path of the package needs no search',
  )
  t.ok(
    searched.some(({ specifier, by }) => specifier === 'tsyringe' && isOwn(by)),
    'packages are searched',
  )
  t.same(read.filter(isOwn), [])
  t.ok(read.some((text) => text.includes('/node_modules/tsyringe/')))
  t.end()
})

t.test('modules of others are found and read as Node does it', { skip: isOld }, (t) => {
  const folder = t.testdir()
  // Node alone knows that this package has the older format.
  mkdirSync(join(folder, 'old'))
  writeFileSync(join(folder, 'old', 'package.json'), '{"type":"commonjs"}')
  writeFileSync(join(folder, 'old', 'one.js'), 'module.exports = { one: 1 }')
  writeFileSync(join(folder, 'entry.mjs'), "import it from './old/one.js'\nif (it.one !== 1) throw new Error('unlike')")
  const { searched, read } = askedOfNode(pathToFileURL(join(folder, 'entry.mjs')).href)
  t.ok(searched.some(({ specifier }) => specifier === './old/one.js'))
  t.ok(read.some((text) => text.endsWith('/old/one.js')))
  t.end()
})
