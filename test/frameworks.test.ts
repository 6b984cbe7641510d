import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'

const run = promisify(execFile)
const compiler = 'node_modules/typescript/bin/tsc'
const frameworks = ['express', 'fastify', 'hono', 'koa', 'next', 'node'] as const

t.setTimeout(900_000)

/** What the strictest compiler says of one program, with every declaration that it reaches. */
const complaintsAbout = async (program: string): Promise<string> => {
  const folder = await mkdtemp(join(process.cwd(), '.tap/project-'))
  try {
    const compilerOptions = {
      ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: false },
      ...{ noEmit: true, target: 'es2023', module: 'nodenext', types: ['node'] },
    }
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [program] }))
    return await run(process.execPath, [compiler, '--project', folder]).then(
      () => '',
      ({ stdout }: { stdout: string }) => stdout,
    )
  } finally {
    await rm(folder, { recursive: true })
  }
}

for (const name of frameworks)
  t.test(`${name}: a strict project compiles without skipLibCheck`, async (t) => {
    t.equal(await complaintsAbout(join(process.cwd(), `examples/embed-${name}.ts`)), '')
  })

t.test('a project with a wrong setting does not compile', async (t) => {
  const folder = await mkdtemp(join(process.cwd(), '.tap/wrong-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const program = join(folder, 'program.ts')
  const imports = ["import { use } from 'sealgate/plugin'", "import openai from 'sealgate/plugins/providers/openai'"]
  await writeFile(program, [...imports, "use(openai, { apikey: 'x' })", ''].join('\n'))
  t.match(await complaintsAbout(program), /'apikey' does not exist/)
})
