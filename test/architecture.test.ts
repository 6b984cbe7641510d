import { access, readFile, readdir } from 'node:fs/promises'
import { builtinModules } from 'node:module'
import { basename, dirname, join, normalize, relative } from 'node:path'
import t from 'tap'
import { featureWords, mostLines, mostOfCore, mostRootFiles } from './architecture/bounds.ts'
import { brokenHouses } from './architecture/broken.ts'
import { guarded, isPluginFile, mayImportPart, only, roomOf, rooms } from './architecture/rooms.ts'
import { oldWords } from './lint-comments.ts'

const listed = async (top: string) => {
  const files = await readdir(top, { recursive: true }).catch(() => [])
  return files.map((file) => join(top, file)).filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
}
const tops = ['core', 'plugins', 'adapters', 'examples'] as const
const files = (await Promise.all(tops.map(listed))).flat().sort()
const importsOf = (text: string) =>
  [...text.matchAll(/(?:^import|^export|^} from|\bimport\()\s*(?:type\s+)?(?:([^'"]*?)\s*from\s*)?'([^']+)'/gm)].map(
    (match) => ({
      names: match[1] ?? '',
      from: match[2]!,
    }),
  )
const text = new Map(await Promise.all(files.map(async (file) => [file, await readFile(file, 'utf8')] as const)))

/** Texts by path. */
type House = ReadonlyMap<string, string>

const importFaults = (house: House): readonly string[] => {
  const faults: string[] = []
  for (const [file, content] of house) {
    const own = roomOf(file)
    if (own === undefined) {
      faults.push(`${file} stands in no room`)
      continue
    }
    for (const { names, from } of importsOf(content)) {
      if (!from.startsWith('.')) {
        const name = from.replace(/^((?:@[^/]+\/)?[^/]+).*$/, '$1')
        const place = only[name]
        if (place !== undefined && own !== 'examples' && !file.startsWith(place))
          faults.push(`${name} belongs to ${place}, not ${file}`)
        const free =
          own !== 'plugins/sealed/wire' ||
          /^(@noble\/|#(?:aead|ml-kem|x25519)$)/.test(from) ||
          file.endsWith('.node.ts')
        const browser = own !== 'plugins/sealed/client' || !(from.startsWith('node:') || builtinModules.includes(from))
        // What a stranger must trust takes nothing from outside.
        const alone = own !== 'plugins/sealed/evidence' && !own.startsWith('plugins/surfaces/console/browser')
        if (!free || !browser || !alone) faults.push(`${file} may not import ${from}`)
        continue
      }
      // Data stands beside the module that takes it, so no room reads the data of another.
      if (/^\.\/[\w-]+\.json$/.test(from)) continue
      const to = normalize(join(dirname(file), from))
      if (!from.endsWith('.ts')) faults.push(`${file} imports ${from} without its ending`)
      const there = roomOf(to)
      const allowed = there === own || rooms[own]?.some((place) => place === there || place === to) === true
      if (!allowed) faults.push(`${file} may not import ${to}`)
      if (own.startsWith('plugins') && there?.startsWith('plugins') && !mayImportPart(file, to))
        faults.push(`${file} imports ${to}, a plugin or a part of another one`)
      for (const rule of guarded) {
        const meant = to.startsWith(rule.from) && (rule.name === '*' || new RegExp(`\\b${rule.name}\\b`).test(names))
        if (meant && !rule.by.test(file)) faults.push(`${file} may not import ${rule.name} of ${rule.from}`)
      }
    }
  }
  return faults
}

const circleFaults = (house: House): readonly string[] => {
  const faults: string[] = []
  const graph = new Map(
    [...house].map(([file, content]) => [
      file,
      importsOf(content)
        .filter(({ from, names }) => from.startsWith('.') && !/^type\b/.test(names))
        .map(({ from }) => normalize(join(dirname(file), from))),
    ]),
  )
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) return void faults.push([...path.slice(path.indexOf(file)), file].join(' > '))
    if (done.has(file)) return
    for (const next of graph.get(file) ?? []) visit(next, [...path, file])
    done.add(file)
  }
  for (const file of house.keys()) visit(file, [])
  return faults
}

const textFaults = (house: House): readonly string[] => {
  const faults: string[] = []
  const misnamed = /(^index|(^|-)(service|manager|handler|helper|utils?|base|impl|common|misc|types))\.ts$/
  for (const [file, content] of house) {
    const lines = content.split('\n').length - 1
    if (lines > 400) faults.push(`${file} has ${lines} lines`)
    if (/^export \*/m.test(content)) faults.push(`${file} is a barrel`)
    if (/\b(TODO|FIXME|XXX|HACK)\b/.test(content)) faults.push(`${file} is unfinished`)
    if (misnamed.test(basename(file)) && !isPluginFile(file) && !/^adapters\/\w+\/index\.ts$/.test(file))
      faults.push(`${file} has a name that says nothing`)
    if (!isPluginFile(file) && !/^[a-z0-9-]+(\.[a-z]+)?\.ts$/.test(basename(file)))
      faults.push(`${file} is not in kebab case`)
    if (
      /new \w+\(\s*`[^`]*\$\{(?!most\})/.test(content) &&
      /^(core|plugins)\//.test(file) &&
      /\b(BadRequest|NotFound|UpstreamFailed|Unavailable|Forbidden|GatewayError)\(\s*`/.test(content)
    ) {
      faults.push(`${file} builds a public message from data`)
    }
    if (
      /^(core\/(?!container)|plugins\/(usage|observers|credentials|sealed\/(?!client)|surfaces\/(?!console\/browser)))/.test(
        file,
      ) &&
      /\b(setTimeout|setInterval|Date\.now|Math\.random)\(/.test(content)
    ) {
      faults.push(`${file} takes time or chance from the process instead of a port`)
    }
    for (const { line, words } of oldWords(content)) faults.push(`${file}:${line} says "${words}" in a comment`)
  }
  return faults
}

/** The room of the table of bounds: a surface and a part of the sealed wing each have their own bound. */
const boundedRoom = (file: string): string => {
  const folders = file.split('/').slice(0, -1)
  const isDeep = ['plugins/surfaces', 'plugins/sealed'].includes(folders.slice(0, 2).join('/'))
  return folders.slice(0, isDeep ? 3 : 2).join('/')
}

const linesByRoom = (house: House): ReadonlyMap<string, number> => {
  const sums = new Map<string, number>()
  for (const [file, content] of house) {
    if (file.startsWith('examples/')) continue
    const room = boundedRoom(file)
    sums.set(room, (sums.get(room) ?? 0) + content.split('\n').length - 1)
  }
  return sums
}

const boundFaults = (house: House): readonly string[] => {
  const faults: string[] = []
  let ofCore = 0
  for (const [room, lines] of linesByRoom(house)) {
    if (/^core(\/|$)/.test(room)) ofCore += lines
    const most = mostLines[room]
    if (most === undefined) faults.push(`${room} has no bound in test/architecture/bounds.ts`)
    else if (lines > most) faults.push(`${room} has ${lines} lines, more than its bound of ${most}`)
  }
  if (ofCore > mostOfCore) faults.push(`core has ${ofCore} lines in all, more than ${mostOfCore}`)
  const rootFiles = [...house.keys()].filter((file) => /^core\/[^/]+$/.test(file)).length
  if (rootFiles > mostRootFiles) faults.push(`core has ${rootFiles} files at its root, more than ${mostRootFiles}`)
  return faults
}

const featureWord = new RegExp(featureWords.join('|'), 'gi')

/** Core names no feature. */
const featureFaults = (house: House): readonly string[] =>
  [...house].flatMap(([file, content]) => {
    const words = file.startsWith('core/') ? (content.match(featureWord) ?? []) : []
    return words.length > 0 ? [`${file} names a feature ${words.length} times: ${words.join(', ')}`] : []
  })

const rules: Readonly<Record<string, (house: House) => readonly string[]>> = {
  'imports stay within the rooms': importFaults,
  'no circles': circleFaults,
  'sizes, names and words': textFaults,
  'rooms keep their bounds': boundFaults,
  'core names no feature': featureFaults,
}

for (const [name, rule] of Object.entries(rules))
  t.test(name, async (t) => {
    for (const fault of rule(text)) t.fail(fault)
    t.ok(text.size > 50, `${text.size} files looked at`)
  })

t.test('every rule finds the fault of a broken copy', async (t) => {
  for (const { rule, file, add, fault } of brokenHouses) {
    const changed = (text.get(file) ?? '') + add
    const isWhole = rule === 'no circles' || rule === 'rooms keep their bounds'
    const copy = isWhole ? new Map(text).set(file, changed) : new Map([[file, changed]])
    t.match(rules[rule]?.(copy).join('\n'), fault, `${file}: ${fault.source}`)
  }
  const played = new Set(brokenHouses.map(({ rule }) => rule))
  t.same([...played].sort(), Object.keys(rules).sort(), 'each rule has a broken copy')
})

t.test('every row of the table refuses an import from a room that it does not name', async (t) => {
  const fileIn = (name: string, allowed: readonly string[] = []): string =>
    files.find((file) => roomOf(file) === name && !isPluginFile(file) && !allowed.includes(file)) ?? ''
  for (const [own, allowed] of Object.entries(rooms)) {
    if (own === 'examples') continue
    const other = Object.keys(rooms).find(
      (name) => name !== own && !allowed.includes(name) && fileIn(name, allowed) !== '',
    )
    const [file, to] = [fileIn(own) || files.find((name) => roomOf(name) === own), fileIn(other ?? '', allowed)]
    if (file === undefined || !t.ok(to, `${own} does not name every room`)) continue
    const path = relative(dirname(file), to)
    const copy = new Map([[file, `${text.get(file) ?? ''}\nimport '${path.startsWith('.') ? path : `./${path}`}'`]])
    t.match(importFaults(copy).join('\n'), `${file} may not import ${to}`)
  }
})

t.test('every plugin is named after its file and proves its contract', async (t) => {
  const contracts: Readonly<Record<string, string>> = {
    // One that decides and does not chat proves that instead.
    Upstream: 'upstream|decider',
    BlobStore: 'blob-store',
    MetadataStore: 'metadata-store',
    Tool: 'tool',
    Prover: 'attester',
    BackendEvidence: 'backend-evidence',
    Reader: 'reader',
    Guard: 'guard',
    Surface: 'surface',
  }
  for (const file of files.filter(isPluginFile)) {
    const test = join('test', file.replace(/\.ts$/, '.test.ts'))
    const proven = await readFile(test, 'utf8').catch(() => null)
    if (proven === null) {
      t.fail(`${file} has no ${test}`)
      continue
    }
    const name = /name: '([^']+)'/.exec(text.get(file)!)?.[1]
    t.equal(name, basename(file, '.ts'), `${file} carries its public name`)
    const port = /^\s+port: (\w+),/m.exec(text.get(file)!)?.[1] ?? ''
    const contract = contracts[port]
    if (contract === undefined) t.fail(`${file} fits ${port}, which has no contract`)
    // Tests of one form have it in the `contract.ts` of their folder.
    else {
      const shared = proven.includes("'./contract.ts'")
        ? await readFile(join(dirname(test), 'contract.ts'), 'utf8')
        : ''
      t.match(proven + shared, new RegExp(`contracts/(${contract})\\.ts'`), `${test} runs the contract of ${port}`)
    }
  }
  for (const contract of Object.values(contracts).flatMap((contract) => contract.split('|')))
    await t.resolves(access(`test/contracts/${contract}.ts`), contract)
})
