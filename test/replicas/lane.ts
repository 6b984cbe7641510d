import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { type Sequence, sequences } from './operations.ts'
import { make, perform } from './perform.ts'
import { Broken, Disturbed, type Figures, type Lane, type Scene, must, names, quiet } from './scene.ts'
import type { Stage } from './stage.ts'

export const laneOf = (name: string): Lane => ({
  name,
  marks: 0,
  organizations: 0,
  past: [],
  over: [],
  spoilt: new Set(),
  figures: { requests: 0, operations: {}, refused: {}, calm: 0, outlived: 0, disturbed: 0 },
})

const length = 80

/** Sequences one after another, each with an organisation and keys of its own; throws with one that breaks what must hold; with SEALGATE_SHRINK it is made as short as can be. */
export const drive = async (stage: Stage, lane: Lane, course: fc.Parameters<[Sequence]>): Promise<void> => {
  const property = fc.asyncProperty(sequences(length), async (sequence) => {
    const scene = await opened(stage, lane)
    try {
      await play(scene, sequence)
    } catch (fault) {
      await abandon(scene)
      // What was refused or not given back while Redis was too slow for a replica says nothing of the limits.
      const excusable = fault instanceof Disturbed || (fault instanceof Broken && fault.excusable)
      if (!excusable || stage.disturbances() === scene.disturbances) throw fault
      lane.figures.disturbed++
      for (const name of [scene.organization, ...scene.keys.map(({ id }) => id)]) lane.spoilt.add(name)
    }
  })
  await fc.assert(property, { endOnFailure: process.env['SEALGATE_SHRINK'] === undefined, ...course })
}

export const opened = async (stage: Stage, lane: Lane): Promise<Scene> => {
  const organization = `${lane.name}-${++lane.organizations}`
  return {
    ...{ stage, lane, organization, keys: [], open: [], sealed: [], calm: false },
    boss: await stage.boss(organization),
    disturbances: stage.disturbances(),
  }
}

export const play = async (scene: Scene, { keys, operations }: Sequence): Promise<void> => {
  const { lane, stage } = scene
  for (const [at, limits] of keys.entries()) await make(scene, at, limits)
  for (const operation of operations) await perform(scene, operation)
  while (scene.open.length > 0)
    await perform(scene, scene.open.length % 2 === 0 ? leaving : { do: 'end', which: 0, count: 5, input: 7, output: 3 })
  await quiet(scene)
  must(
    scene.open.length === 0 && stage.provider.held(names.organization(scene)) === 0,
    () => 'calls are in flight at the end',
  )
  lane.past.push(...scene.keys)
  lane.over.push(scene)
}

const leaving = { do: 'leave', which: 0 } as const

/** Lets go of what is open; lines of the log are written every quarter of a second. */
export const abandon = async ({ open }: Scene): Promise<void> => {
  for (const { sent, flight } of open) {
    flight.leave('left')
    sent.leave()
  }
  await sleep(500)
}

export const together = (lanes: readonly Lane[]): Figures => {
  const sum = (one: Record<string, number>, other: Record<string, number>) => {
    const all = { ...one }
    for (const [name, count] of Object.entries(other)) all[name] = (all[name] ?? 0) + count
    return all
  }
  return lanes
    .map(({ figures }) => figures)
    .reduce((one, other) => ({
      requests: one.requests + other.requests,
      operations: sum(one.operations, other.operations),
      refused: sum(one.refused, other.refused),
      calm: Math.max(one.calm, other.calm),
      outlived: Math.max(one.outlived, other.outlived),
      disturbed: one.disturbed + other.disturbed,
    }))
}
