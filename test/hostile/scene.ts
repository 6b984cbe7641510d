import type { Stage } from '../lab/hunt/stage.ts'

/** Something that was measured, and what it may be at most. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly most: number
}

/** Another gateway of the same machine, which is started when a scene first asks for it. */
export type Twin = () => Promise<Stage>

/** What somebody does to a gateway, and what it may come to. */
export interface Scene {
  readonly name: string
  /**
   * Where alone it is played: with the long tests, or in the bench where it comes near a bound or depends on how many cores
   * are free. The suite plays the others.
   */
  readonly only?: 'long' | 'bench'
  /** Ms that a loop may stand still; 200 when absent. */
  readonly stall?: number
  /** Bytes that each process may take at most; four times the bytes on the wire, or 32 MiB, when absent. */
  readonly memory?: number
  /** Gives back how many bytes were sent, and what else was measured; by the clock too where the machine is quiet. */
  play(
    stage: Stage,
    twin: Twin,
    quiet: boolean,
  ): Promise<{ readonly sent: number; readonly figures?: readonly Figure[] }>
}

export const mebibyte = 1024 * 1024
/** Bytes that each process may take whatever was sent. */
const room = 32 * mebibyte

/** Plays it. Silences by the clock on the wall are judged on a quiet machine alone; stalls are the work of one process. */
export const played = async (
  { play, stall = 200, memory }: Scene,
  stage: Stage,
  twin: Twin,
  quiet: boolean,
): Promise<readonly Figure[]> => {
  await stage.watch.begin()
  const { sent, figures = [] } = await play(stage, twin, quiet)
  const fallen = stage.fallen()
  // A process that ended answers no probe any more.
  if (fallen !== null) return [{ name: `${fallen} ended`, value: 1, most: 0 }, ...figures]
  const seen = await stage.watch.end()
  const most = (memory ?? Math.max(4 * sent, room)) / mebibyte
  const sides = (['gateway', 'enclave'] as const).flatMap((side) => [
    { name: `${side} stall, ms`, value: seen[side].stall, most: stall },
    ...(quiet ? [{ name: `${side} silence, ms`, value: seen[side].silence, most: stall }] : []),
    { name: `${side} memory, MiB`, value: seen[side].peak / mebibyte, most },
  ])
  return [...sides, { name: 'processes ended', value: stage.fallen() === null ? 0 : 1, most: 0 }, ...figures]
}

export const passes = ({ value, most }: Figure): boolean => value <= most
