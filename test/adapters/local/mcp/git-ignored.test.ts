import { execFileSync, spawnSync } from 'node:child_process'
import { mkdir, realpath, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { isGitIgnored } from '../../../../adapters/local/mcp/git-ignored.ts'
import { nameMatcher } from '../../../../adapters/local/mcp/glob.ts'
import { folderOf } from '../../../helpers.ts'

const env = { XDG_CONFIG_HOME: '/nowhere' }
const withGit = spawnSync('git', ['--version']).status === 0

const paths = ['a', 'b', 'a.log', 'x/a', 'x/b', 'x/a.log', 'x/y/a', 'x/y/b.txt', 'y/x/a', 'c d', 'e!', '#f', 'x/y/z/a']

/** What git says of the same files under the same rules. */
const byGit = (folder: string): readonly string[] => {
  const { stdout } = spawnSync('git', ['check-ignore', '-z', '--no-index', '--stdin'], {
    cwd: folder,
    input: paths.join('\0'),
    env: { PATH: process.env['PATH'], HOME: '/nowhere', GIT_CONFIG_NOSYSTEM: '1' },
  })
  return stdout.toString().split('\0').filter(Boolean)
}

t.test('files are ignored exactly as git ignores them', { skip: withGit ? false : 'git is not there' }, async (t) => {
  const folder = await realpath(await folderOf(t))
  execFileSync('git', ['init', '-q', folder])
  for (const path of paths) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), '')
  }
  const same = async (top: string, below: string) => {
    await writeFile(join(folder, '.gitignore'), top)
    await writeFile(join(folder, 'x', '.gitignore'), below)
    const ours: string[] = []
    for (const path of paths) if (await isGitIgnored(folder, join(folder, path), env)) ours.push(path)
    return { ours, git: byGit(folder) }
  }
  const cases = ['a', '/a', 'x/', 'x/a', '*.log', '**/a', 'x/**', 'x/**/a', '*\n!a', 'x/*\n!x/a', '[ab]', '[!a]', '?']
  cases.push(
    'c d  ',
    'e!',
    '\\#f',
    '#f',
    'e\\!',
    '!',
    '/',
    '**',
    '***',
    'x/***',
    'a\\',
    '[a',
    '[[:alpha:]]',
    '\uFEFFa',
    'a\r\nb\r',
  )
  cases.push(
    'c\\ d',
    '/*\n!/x',
    'y/x/',
    '**/x/**',
    'x/y/**/a',
    '/**/a',
    'x*a',
    '[]a]',
    '[a-',
    'a/',
    'x/y',
    '[^x]/',
    '*/a',
  )
  for (const rules of cases) {
    const { ours, git } = await same(rules, '')
    t.same(ours, git, JSON.stringify(rules))
  }
  const piece = fc.constantFrom(
    'a',
    'b',
    'x',
    'y',
    'z',
    '*',
    '**',
    '?',
    '/',
    '!',
    '[ab]',
    '[!a]',
    '.log',
    '.txt',
    '\\',
    '\n',
    ' ',
  )
  const rules = fc.array(piece, { maxLength: 9 }).map((pieces) => pieces.join(''))
  await fc.assert(
    fc.asyncProperty(rules, rules, async (top, below) => {
      const { ours, git } = await same(top, below)
      t.same(ours, git, JSON.stringify([top, below]))
      return JSON.stringify(ours) === JSON.stringify(git)
    }),
    { numRuns: 60, seed: 7 },
  )
})

t.test('a working copy above the root counts, and a root that git ignores is read all the same', async (t) => {
  const folder = await realpath(await folderOf(t))
  await mkdir(join(folder, '.git', 'info'), { recursive: true })
  await mkdir(join(folder, 'built', 'sub'), { recursive: true })
  await writeFile(join(folder, '.gitignore'), 'built\n*.key\n')
  await writeFile(join(folder, '.git', 'info', 'exclude'), '*.own\n')
  const root = join(folder, 'built')
  const ignored = (name: string) => isGitIgnored(root, join(root, name), env)
  t.notOk(await ignored('sub/a.txt'))
  t.ok(await ignored('sub/a.key'))
  t.ok(await ignored('a.own'))
})

t.test('a hostile pattern costs no more than the product of the lengths', (t) => {
  const fits = nameMatcher(`${'a*'.repeat(200)}b`)
  const begun = process.cpuUsage()
  t.notOk(fits('a'.repeat(4000)))
  t.ok(process.cpuUsage(begun).user < 2_000_000, 'well below two seconds of work')
  t.end()
})
