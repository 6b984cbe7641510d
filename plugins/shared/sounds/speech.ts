import { BadRequest, Unreadable } from '../../../core/errors.ts'
import { runApart } from '../run-apart.ts'
import type { Utterance } from './flite-job.ts'
import { passagesOf, sentencesOf } from './sentences.ts'
import { hasSpeechMarkup, speakable } from './speakable.ts'
import { mostCharacters } from './speech-bounds.ts'
import { joined, secondsOf, type Sound } from './wav.ts'

/** The voices of the engine. */
export const voices = ['slt', 'rms', 'awb', 'kal16', 'kal'] as const

export interface Speech {
  /** English text without SSML, in the Latin script. */
  readonly text: string
  /** One of `voices`; the first by default. */
  readonly voice?: string | undefined
  /** 1 by default. */
  readonly speed?: number | undefined
}

/** In characters: the engine's longest phrase. A much longer phrase costs more than its length. */
const mostPhraseCharacters = 400
/** In characters of one thread's passage: enough to repay its start, and few enough that other callers get a turn. */
const passage = 2_000

/**
 * Speaks on this machine. The seconds have a limit, too, since a single digit is spoken as a word. Throws BadRequest
 * when nothing can be spoken, and Unconfigured when the engine is not installed.
 */
export const speakLocally = async (
  { text, voice = voices[0], speed = 1 }: Speech,
  signal: AbortSignal,
  mostSeconds = 1_800,
): Promise<Sound> => {
  signal.throwIfAborted()
  if (!(voices as readonly string[]).includes(voice)) {
    throw new BadRequest('Unknown voice', { validator: { voice: `Expected ${voices.join(', ')}` } })
  }
  if (!(speed >= 0.25 && speed <= 4)) {
    throw new BadRequest('Unknown speed', { validator: { speed: 'Expected 0.25 to 4' } })
  }
  if (text.length > mostCharacters) throw unspeakable('Expected at most 20,000 characters')
  if (hasSpeechMarkup(text)) throw unspeakable('Expected words without SSML, which only some backends follow')
  const sayable = speakable(text)
  if (sayable === null) throw unspeakable('Expected English; letters and signs of other scripts have no sound here')
  const sentences = sentencesOf(sayable, mostPhraseCharacters).filter((sentence) => /[a-z0-9]/i.test(sentence))
  if (sentences.length === 0) throw unspeakable('Expected English words')
  const sounds: Sound[] = []
  let seconds = 0
  for (const sentencesOfOne of passagesOf(sentences, passage)) {
    const sound = await spoken({ voice, stretch: 1 / speed, sentences: sentencesOfOne }, signal)
    sounds.push(sound)
    seconds += secondsOf(sound)
    if (seconds > mostSeconds) throw unspeakable('Expected at most half an hour of speech')
  }
  return joined(sounds)!
}

/** Rejects with BadRequest when the engine fails at these words. */
const spoken = async (utterance: Utterance, signal: AbortSignal): Promise<Sound> => {
  try {
    return await runApart<Sound>('shared/sounds/flite-job', utterance, signal)
  } catch (error) {
    throw error instanceof Unreadable ? unspeakable('Expected other words') : error
  }
}

const unspeakable = (expected: string) => new BadRequest('The text cannot be spoken', { validator: { text: expected } })
