import t from 'tap'
import { freePace } from '../../../../../core/dialects/loop-time.ts'
import { type Parts, chain, lengthOf } from '../../../../../plugins/surfaces/v1/socket/chain.ts'
import { playTurn } from '../../../../../plugins/surfaces/v1/socket/turn.ts'
import { wordsOf } from '../../../../../plugins/surfaces/v1/socket/words.ts'

const bounds = { elements: 1_000, members: 100, outermost: 100 }
const pace = freePace()

/** The turns of one connection: what each sends to the route, and the events of the last one. */
const connection = () => {
  const requests: { readonly path: string; readonly body: string }[] = []
  const events: { readonly type: string; readonly response: { readonly id: string } }[] = []
  const answered = '{"type":"response.completed","response":{"id":"resp_b","output":[]}}'
  const given = {
    ...{ bounds, pace, now: () => 0, id: () => `resp_${requests.length}` },
    chain: chain(1_000_000, { grow: () => undefined, shrink: () => undefined, release: () => undefined }),
    ask: async (path: string, parts: Parts) => {
      requests.push({ path, body: Buffer.concat(parts, lengthOf(parts)).toString() })
      return new Response(`event: response.completed\ndata: ${answered}\n\n`)
    },
    say: async (text: string | Uint8Array) => void events.push(JSON.parse(String(text))),
  }
  return {
    requests,
    async turn(input: unknown, isWarm: boolean) {
      const previous = events.at(-1)?.response.id
      const turn = { type: 'response.create', model: 'm', input, ...(isWarm && { generate: false }) }
      const message = JSON.stringify({ ...turn, ...(previous && { previous_response_id: previous }) })
      await playTurn((await wordsOf(Buffer.from(message), bounds, pace))!, given, new AbortController().signal)
      return requests.at(-1)!
    },
  }
}

t.test('a turn without a call has its new items checked alone, and a call gets all of them', async (t) => {
  const { turn } = connection()
  const [first, second] = ['x'.repeat(100_000), 'y'.repeat(1_000)]
  const begun = await turn(first, true)
  t.ok(begun.path === '/input_tokens' && begun.body.includes(first), 'the first items')
  const more = await turn(second, true)
  t.ok(more.body.includes(second) && !more.body.includes(first), 'what is added')
  const nothing = await turn([], true)
  t.ok(nothing.body.length < 300, `${nothing.body.length} bytes of a turn that adds nothing`)
  const called = await turn('z', false)
  t.equal(called.path, '')
  t.ok(called.body.includes(first) && called.body.includes(second), 'the whole conversation')
})
