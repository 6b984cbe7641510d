import * as v from 'valibot'
import { enginePath } from '../shared/sounds/flite-job.ts'
import { packingOf } from '../shared/sounds/sound-formats.ts'
import { voiceName } from './shared/voice-name.ts'
import { speakLocally, voices } from '../shared/sounds/speech.ts'
import { plugin } from '../../core/plugin.ts'
import { Upstream } from '../../core/ports/upstream.ts'

/** English speech by Flite, in this process and offline. SSML and letters of other scripts are refused. */
export default plugin({
  port: Upstream,
  name: 'flite',
  settings: v.strictObject({
    /** The voice for callers who name none. */
    voice: v.optional(v.picklist(voices), voices[0]),
  }),
  create: (_, { voice: usual }, name): Upstream => ({
    name,

    async models(signal) {
      signal.throwIfAborted()
      await enginePath()
      const description = `English speech in this process; its voices are ${voices.join(', ')}`
      return [{ id: 'flite', type: 'AUDIO_SPEECH', description, modalities: ['text'] }]
    },

    async speak(call, signal) {
      const { text, format = 'wav', speed } = call
      const [voice, pack] = [voiceName(call) ?? usual, packingOf(format)]
      return pack(await speakLocally({ text, voice, speed }, signal), signal)
    },
  }),
})
