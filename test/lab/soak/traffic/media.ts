import { form } from '../../../../plugins/providers/shared/form.ts'
import { ask, judged, one, type Traffic } from '../traffic.ts'

const upstreams = [{ provider: 'soak' }]
const audio = new Uint8Array(64 * 1024)

export const traffic: Traffic = {
  name: 'media',
  weight: 3,
  ms: 100,
  models: {
    embedding: { type: 'EMBEDDING', upstreams },
    drawing: { type: 'IMAGE', upstreams },
    speaking: { type: 'AUDIO_SPEECH', upstreams },
    hearing: { type: 'AUDIO_TRANSCRIPTION', upstreams },
  },
  async call(target, leave) {
    const send = (path: string, body: object) => ask(target, `/std/${path}`, { body: JSON.stringify(body) }, leave)
    switch (one(['embed', 'draw', 'speak', 'transcribe'])) {
      case 'embed':
        return judged(
          await send('embeddings', { model: 'embedding', input: 'a' }),
          200,
          (text) => JSON.parse(text).data.length === 1,
        )
      case 'draw':
        return judged(
          await send('images/generations', { model: 'drawing', prompt: 'a' }),
          200,
          (text) => JSON.parse(text).data[0].b64_json.length > 0,
        )
      case 'speak':
        return judged(
          await send('audio/speech', { model: 'speaking', input: 'a' }),
          200,
          (text) => text.length === 32 * 1024,
        )
      default: {
        const { type, body } = form([['model', 'hearing']], { name: 'a.wav', mime: 'audio/wav', bytes: audio })
        const sent = { body, headers: { 'content-type': type } }
        return judged(
          await ask(target, '/std/audio/transcriptions', sent, leave),
          200,
          (text) => JSON.parse(text).text === 'Hello.',
        )
      }
    }
  },
}
