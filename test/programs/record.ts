import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import t from 'tap'
import { backend } from '../contracts/stage.ts'
import { opened } from '../fakes/doors.ts'
import { through } from './front.ts'
import { installed, unwanted } from './installed.ts'
import { programs } from './programs.ts'
import { cleaned } from './recorded-requests.ts'
import { prompt, words, working } from './scripts.ts'

const folder = 'test/vectors/agents'

t.setTimeout(3_600_000)

for (const program of programs) {
  t.test(`what ${program.name} sends is recorded`, { skip: unwanted(program) }, async (t) => {
    const installation = await installed(t, program)
    const { home, note } = await installation.home('home', words.note)
    const names = Object.fromEntries(program.models.map((model) => [model, 'responses'] as const))
    const doors = await opened(t, working(program, note), names)
    const front = await backend(t, (request) => through(doors.base, request))
    t.match(await installation.inTheClear({ base: front.url, key: doors.key }, home, prompt), /All is done\./)
    const version = execFileSync('npm', ['view', program.package, 'version']).toString().trim()
    const requests = cleaned(front.asked, { base: front.url, key: doors.key, home })
    t.ok(requests.length >= 3, `${requests.length} requests`)
    await mkdir(folder, { recursive: true })
    const lines = requests.map((request) => JSON.stringify(request)).join(',\n')
    const head = `"program": ${JSON.stringify(program.name)}, "package": "${program.package}", "version": "${version}"`
    const file = `${folder}/${program.name.toLowerCase().replaceAll(' ', '-')}.json`
    await writeFile(file, `{ ${head}, "requests": [\n${lines}\n] }\n`)
  })
}
