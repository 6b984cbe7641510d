import { spreadWithin, sumsOf } from './speakers-gaussian.ts'
import { stretchesOf, turnsOf, type Instant, type Turn } from './speakers-turns.ts'
import { frameWidth } from './speakers-voice.ts'
import {
  byDistance,
  byInformation,
  voiceOfFrames,
  groupOf,
  joinedGroups,
  type JoinedGroups,
  type VoiceGroup,
} from './cluster-voices.ts'
import type { Voice } from './voice-job.ts'

/** Speakers that a result names at most, as the tool's description says. */
const mostSpeakers = 8

/** The largest number of voices during sorting; the result may have fewer. */
const mostVoices = 16

/** In instants: a piece of about two seconds counts as one voice at first, and needs this many voiced instants. */
const piece = 120
const leastVoiced = 8

/** In pieces: the number compared pairwise, about five minutes of speech. */
const atOnce = 160

/** A speaker with less than about two seconds, or with less than this share of the speech, is merged into another. */
const leastSaid = { instants: 125, share: 0.01 }

/** Turns in order of time, with speakers from 0. */
export interface GuessedTurns {
  readonly turns: readonly Turn[]
  /** How sure the number of speakers is, from 0.5 to 1; null where nobody speaks. */
  readonly confidence: number | null
}

/** Guesses speakers by the sound of their voices only. */
export default ({ speech, frames }: Voice): GuessedTurns => {
  const stretches = stretchesOf(speech, (index) => {
    const sound = frames.subarray(index * frameWidth, (index + 1) * frameWidth)
    return sound.length === frameWidth && sound[frameWidth - 1] !== 0 ? sound : null
  })
  const instants = stretches.flat()
  const pieces = stretches.flatMap((stretch) => partsOf(stretch, Math.max(1, Math.round(stretch.length / piece))))
  const sounds = pieces.map(soundsOf).filter((sound) => sound.length >= leastVoiced)
  const usual = spreadWithin(
    sounds.map((sound) => sumsOf(sound, frameWidth)),
    frameWidth,
  )
  const rough = roughly(
    sounds.map((sound) => groupOf(sound, usual)),
    usual,
  )
  const { groups, evidence } = refined(refined(rough, instants, usual), instants, usual)
  const turns = turnsOf(instants, voicesOf(groups, instants))
  return { turns, confidence: turns.length === 0 ? null : confidenceOf(evidence) }
}

/** Half where one more or one speaker less fits as well, and nearer to 1 the clearer the evidence is. */
const confidenceOf = (evidence: number | null): number => {
  const against = Math.max(0, evidence ?? 1)
  return 1 - Math.min(against, 1 / against) / 2
}

/** Groups of a few pieces each. Neighbouring pieces are joined first, so that long recordings stay fast. */
const roughly = (groups: readonly VoiceGroup[], usual: Float64Array): JoinedGroups => {
  const tolerance = byInformation(frameWidth)
  const near = partsOf(groups, Math.ceil(groups.length / atOnce)).map((some) =>
    joinedGroups(some, usual, mostVoices, tolerance),
  )
  const all = near.flatMap((joined) => joined.groups)
  const { groups: joined, evidence } = joinedGroups(all, usual, mostVoices, tolerance)
  return { groups: joined, evidence: evidence ?? near.at(-1)?.evidence ?? null }
}

/** Rebuilds the groups from the instants that each explains best, and joins groups of one voice. */
const refined = (before: JoinedGroups, instants: readonly Instant[], usual: Float64Array): JoinedGroups => {
  const { groups } = before
  if (groups.length < 2) return before
  const voices = voicesOf(groups, instants)
  const least = Math.max(leastSaid.instants, leastSaid.share * instants.length)
  const own = groups
    .map((_, voice) => instants.filter((_, at) => voices[at] === voice))
    .filter((stretch) => stretch.length >= least)
    .map(soundsOf)
    .filter((sound) => sound.length >= leastVoiced)
    .map((sound) => groupOf(sound, usual))
  return joinedGroups(own.length > 0 ? own : groups, usual, mostSpeakers, byDistance)
}

/** The number of the group that each instant belongs to. */
const voicesOf = (groups: readonly VoiceGroup[], instants: readonly Instant[]): Uint8Array =>
  groups.length < 2
    ? new Uint8Array(instants.length)
    : voiceOfFrames(
        groups.map(({ distribution }) => distribution),
        instants,
      )

/** Instants without a voice tell nothing of a speaker. */
const soundsOf = (instants: readonly Instant[]): readonly Float32Array[] =>
  instants.flatMap(({ sound }) => (sound === null ? [] : [sound]))

/** Splits a list into `count` parts of nearly equal size. */
const partsOf = <T>(all: readonly T[], count: number): readonly (readonly T[])[] =>
  Array.from({ length: count }, (_, at) =>
    all.slice(Math.round((all.length * at) / count), Math.round((all.length * (at + 1)) / count)),
  )
