import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { start } from '../bench/measure.ts'
import { type Trace, traced } from './trace.ts'

const key = `sk_live_${'6'.repeat(43)}`

/** The files of a whole answer and of a stream at the door of chat completions, with a key in the environment and one backend. */
export const chatTraces = async (): Promise<{ readonly whole: Trace; readonly stream: Trace }> => {
  const folder = await mkdtemp(join(tmpdir(), 'sealgate-trace-'))
  const upstream = await start('upstream')
  try {
    const config = join(folder, 'config.json')
    const providers = { openai: { use: 'openai', baseUrl: `${upstream.base}/v1`, apiKey: 'none' } }
    await writeFile(config, JSON.stringify({ enclave: { connect: ['/nowhere'] }, providers }))
    const gateway = await traced({
      ...{ SEALGATE_CONFIG: config, SEALGATE_DATA: join(folder, 'data'), SEALGATE_KEY: key, NODE_ENV: 'production' },
    })
    try {
      const chat = async (stream: boolean) => {
        const answer = await fetch(`${gateway.base}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'bench', messages: [{ role: 'user', content: 'Say words.' }], stream }),
        })
        const text = await answer.text()
        if (answer.status !== 200) throw new Error(`${answer.status} ${text}`)
      }
      return { whole: await gateway.trace(() => chat(false)), stream: await gateway.trace(() => chat(true)) }
    } finally {
      await gateway.stop()
    }
  } finally {
    await upstream.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

const page = 'docs/lifecycle.md'
const heading = '## Files that a chat visits'

const listed = ({ files }: Trace): string => files.map((file) => `\`${file}\``).join(' → ')

/** The chapter of the page: files in the order of their first visit, and the returns to files seen before. */
export const chapterOf = ({ whole, stream }: { readonly whole: Trace; readonly stream: Trace }): string => {
  const further = stream.files.filter((file) => !whole.files.includes(file))
  return [
    heading,
    '',
    '`npm run trace` starts the gateway with one key and one backend, and writes this list. The order is that of the first visit.',
    '',
    `A whole answer visits ${whole.files.length} files and returns ${whole.returns} times to a file seen before:`,
    '',
    listed(whole),
    '',
    `A stream of 100 events visits ${stream.files.length} files and returns ${stream.returns} times. The stream visits these files too:`,
    '',
    listed({ files: further, returns: 0 }),
    '',
  ].join('\n')
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const text = await readFile(page, 'utf8')
  const [before = text] = text.split(heading)
  await writeFile(page, `${before.trimEnd()}\n\n${chapterOf(await chatTraces())}`)
}
