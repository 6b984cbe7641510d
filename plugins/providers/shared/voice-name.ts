import { BadRequest } from '../../../core/errors.ts'
import type { SpeakCall } from '../../../core/ports/upstream.ts'

/** The voice for a backend that knows its voices by name. Throws BadRequest for the id of a voice. */
export const voiceName = ({ voice }: SpeakCall): string | undefined => {
  if (typeof voice !== 'object') return voice
  throw new BadRequest('The model knows its voices by name', { validator: { voice: 'expected a name' } })
}
