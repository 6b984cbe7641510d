import './fakes/unwatched.ts'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { type Mark, nothingStays, newCanary } from './fakes/canary.ts'
import { type Dumped, dumped, enclaveOf, memoryOf } from './fakes/dumped.ts'
import type { Asked, Recorded, Take } from './fakes/recorded.ts'
import { scripted } from './fakes/scripted.ts'
import { backend } from './contracts/stage.ts'
import { installed, unwanted } from './programs/installed.ts'
import { programs, type Program } from './programs/programs.ts'
import { offered } from './programs/scripts.ts'

/** What the last turn is asked with, and so what the enclave holds until it is answered. */
const places = ['prompt', 'said', 'note', 'argument', 'printed'] as const

/** The letters of a word, each changed to another; twice gives the word. */
const changed = (word: string): string =>
  word.replace(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 84) % 26) + 97))

/** A model with a mark in all that it says. What its command prints stands nowhere before the command runs. */
const model = ({ reads, runs }: Program, { note, mark }: { readonly note: string; readonly mark: Mark }) => {
  const command = `tr a-z n-za-m < ${join(dirname(note), 'changed.txt')} # ${mark('argument')}`
  return scripted((turn, tools) => {
    const [reading, running] = [offered(reads(note), tools), offered(runs(command), tools)]
    if (reading === null || running === null) return [{ say: 'A title' }]
    if (turn === 0) return [{ think: mark('thought'), signature: 'Zmlyc3Q=' }, { say: mark('said') }, reading]
    return turn === 1 ? [{ think: mark('thought') }, running] : [{ say: mark('answer') }]
  })
}

/** A gateway whose model is in its enclave alone, before a backend of the program's own dialect where there is one. */
const house = (t: Test, folder: string, { name, models }: Program, { url }: Recorded): Promise<Dumped> => {
  const provider = name === 'Claude Code' ? 'messages' : 'chat'
  const upstreams = [{ provider, model: 'm' }]
  const quiet = { standard: false, confidential: true, upstreams }
  return dumped(t, folder, {
    providers: {
      chat: { use: 'openai', baseUrl: `${url}/v1` },
      messages: { use: 'anthropic', baseUrl: url, apiKey: 'k' },
    },
    models: { ...Object.fromEntries(models.map((model) => [model, quiet])), plain: { upstreams } },
    routing: { retries: 0 },
  })
}

const linux = process.platform !== 'linux' && 'Linux alone shows the memory of a process'

t.setTimeout(600_000)

for (const program of programs.filter(({ name }) => name === 'Codex' || name === 'Claude Code')) {
  t.test(
    `nothing of a sealed session of ${program.name} is in the gateway`,
    { skip: linux || unwanted(program) },
    async (t) => {
      const { root, control, mark } = newCanary()
      const installation = await installed(t, program)
      const { home, note } = await installation.home('home', mark('note'))
      await writeFile(join(home, 'changed.txt'), changed(mark('printed')))

      const plays = model(program, { note, mark })
      const during: { gateway?: readonly string[]; enclave?: readonly string[] } = {}
      const play = async (request: Asked): Promise<Take> => {
        const told = request.body.toString()
        if (told.includes(control)) return { body: '', pace: 'silent' }
        if (told.includes(mark('printed')) && during.gateway === undefined) {
          during.gateway = (await memoryOf(running.child.pid!, [root])).found
          during.enclave = (await memoryOf(await enclaveOf(running), places.map(mark))).found
        }
        return plays(request)
      }
      const asked = await backend(t, play)
      const folder = t.testdir({ data: {} })
      const running = await house(t, folder, program, asked)
      const text = await installation.behindSeal(running, home, mark('prompt'))

      t.match(text, mark('answer'), 'the session goes to its end')
      const { gateway, enclave = [] } = during
      t.same(gateway, [], 'memory, while the enclave waits for the last answer')
      for (const place of places)
        t.ok(
          enclave.some((found) => found.startsWith(`${mark(place)} `)),
          `the ${place} is found in the enclave then`,
        )
      await nothingStays(t, [running, folder], asked, { root, control })
    },
  )
}
