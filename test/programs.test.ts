import t, { type Test } from 'tap'
import { backends, opened, type Backend } from './fakes/doors.ts'
import type { Asked, Take } from './fakes/recorded.ts'
import { sealedDoors } from './fakes/sealed-doors.ts'
import { installed, unwanted, type Installed } from './programs/installed.ts'
import { programs, type Program } from './programs/programs.ts'
import { interrupted, overflowing, prompt, words, working } from './programs/scripts.ts'

const ways = ['clear', 'sealed'] as const

/** Runs the program to its end: what its backend was asked, and what the gateway logged. */
const ran = async (
  t: Test,
  [program, installation]: readonly [Program, Installed],
  play: (program: Program, note: string) => (request: Asked) => Take,
  [way, backend, name]: readonly [way: (typeof ways)[number], backend: Backend, name: string],
) => {
  const { home, note } = await installation.home(name.replaceAll(' ', '-'), words.note)
  const names = Object.fromEntries(program.models.map((model) => [model, backend]))
  const doors = await (way === 'clear' ? opened : sealedDoors)(t, play(program, note), names)
  const text = await (way === 'clear' ? installation.inTheClear : installation.behindSeal)(doors, home, prompt)
  const asked = doors.backend.asked.map(({ body }) => body.toString())
  t.match(text, /All is done\./, `${name}: it ends`)
  for (const [what, told] of Object.entries({ 'the note': words.note, 'what the command printed': words.printed }))
    t.ok(
      asked.some((body) => body.includes(told)),
      `${name}: the model is told ${what}`,
    )
  const requests = doors.logged.filter(({ event }) => event === 'request').map(({ facts }) => facts)
  const open = requests.filter(({ route }) => /\/(v1|v1beta|std)\//.test(String(route)))
  t.equal(open.length === 0, way === 'sealed', `${name}: sealed runs take no route in the clear, and others do`)
  t.notMatch(JSON.stringify(doors.logged), words.note)
  return { asked, requests }
}

t.setTimeout(3_600_000)

for (const program of programs) {
  t.test(`${program.name} reads a file and runs a command over three turns`, { skip: unwanted(program) }, async (t) => {
    const installation = await installed(t, program)
    for (const way of ways) {
      for (const backend of backends) {
        const { requests } = await ran(t, [program, installation], working, [way, backend, `${way} before ${backend}`])
        if (program.name !== 'Codex' || way === 'sealed') continue
        const statuses = requests.map(({ route, status }) => `${route} ${status}`)
        const isWhole = ['GET /v1/responses 101', 'POST /v1/responses 200'].every((text) => statuses.includes(text))
        t.ok(isWhole, `turns over a WebSocket: ${statuses.join()}`)
      }
      for (const backend of program.patient === true && way === 'clear' ? backends : []) {
        const name = `${backend}, overloaded for six seconds`
        await ran(t, [program, installation], interrupted, [way, backend, name])
      }
      for (const backend of program.compacts === true ? (['chat', 'messages'] as const) : []) {
        const name = `${way} before a full ${backend}`
        const { asked } = await ran(t, [program, installation], overflowing, [way, backend, name])
        t.ok(
          asked.some((body) => body.includes(words.summary)),
          `${name}: it goes on from a summary`,
        )
      }
    }
  })
}
