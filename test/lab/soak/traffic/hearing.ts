import { type Traffic, one, refused } from '../traffic.ts'

const confidential = { standard: false, confidential: true, upstreams: [{ provider: 'soak' }] }

export const traffic: Traffic = {
  name: 'sealed audio',
  weight: 4,
  ms: 150,
  stores: true,
  models: {
    listener: { ...confidential, type: 'AUDIO_TRANSCRIPTION' },
    speaker: { ...confidential, type: 'AUDIO_SPEECH' },
  },
  async call({ client }, signal) {
    const { transcriptions, translations } = client.audio
    const file = { name: 'talk.wav', bytes: new Uint8Array(1 + Math.floor(Math.random() * 256 * 1024)) }
    switch (one(['hear', 'hear', 'hear', 'speak', 'unknown'])) {
      case 'speak': {
        const { fileId } = await client.tools.call('audioGenerateFromText', { text: 'The ferry leaves.' }, { signal })
        const bytes = await (await client.files.download(fileId, { signal })).bytes()
        await client.files.remove(fileId)
        return bytes.length === 32 * 1024 ? null : 'another sound'
      }
      case 'unknown': {
        const wanted = { fault: 'failed', status: 404, code: 'unknown_model' }
        return refused(transcriptions.create({ model: 'nobody', file }, { signal }), wanted, signal)
      }
      default: {
        const verb = one([transcriptions, transcriptions, translations])
        const { results } = await verb.create({ model: 'listener', file }, { signal })
        return results.channels[0]!.alternatives[0]!.transcript === 'Hello.' ? null : 'another text'
      }
    }
  },
}
