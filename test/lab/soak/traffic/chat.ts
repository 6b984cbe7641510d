import { said } from '../backend.ts'
import { ask, judged, one, type Traffic } from '../traffic.ts'

const filler = 'Tell me more of the ferry, the fog and the goats. '

const bodyOf = (model: string, stream: boolean) => {
  const content = filler.repeat(1 + Math.floor(Math.random() * 200))
  return JSON.stringify({
    model,
    stream,
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content },
    ],
  })
}

const textOf = (events: string): string => {
  let text = ''
  for (const event of events.split('\n\n')) {
    if (event.startsWith('data: {')) text += JSON.parse(event.slice(6)).choices?.[0]?.delta.content ?? ''
  }
  return text
}

const isWhole = (text: string) => JSON.parse(text).choices[0].message.content === said
const isStreamed = (text: string) => text.endsWith('data: [DONE]\n\n') && textOf(text) === said
/** As far as it went, and honest about it. */
const isBroken = (text: string) =>
  !text.includes('[DONE]') && said.startsWith(textOf(text)) && /data: \{"error":.*\}\n\n$/.test(text)

export const traffic: Traffic = {
  name: 'chat',
  weight: 10,
  ms: 300,
  models: {
    soak: { upstreams: [{ provider: 'soak' }] },
    cut: { upstreams: [{ provider: 'soak' }] },
    spare: { upstreams: [{ provider: 'dead' }, { provider: 'soak', priority: 2 }] },
  },
  async call(target, leave) {
    const send = (model: string, stream: boolean) =>
      ask(target, '/std/chat/completions', { body: bodyOf(model, stream) }, leave)
    switch (one(['whole', 'stream', 'stream', 'stream', 'cut', 'spare', 'unknown', 'malformed'])) {
      case 'stream':
        return judged(await send('soak', true), 200, isStreamed)
      case 'cut':
        return judged(await send('cut', true), 200, isBroken)
      case 'spare':
        return judged(await send('spare', false), 200, isWhole)
      case 'unknown':
        return judged(await send('nobody', false), 404, (text) => text.includes('"error"'))
      case 'malformed':
        return judged(await ask(target, '/std/chat/completions', { body: '{"model":' }, leave), 400, (text) =>
          text.includes('"error"'),
        )
      default:
        return judged(await send('soak', false), 200, isWhole)
    }
  },
}
