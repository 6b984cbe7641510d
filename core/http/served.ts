import type { Served, Surface } from '../ports/surface.ts'

/** A surface of the environment, by the name of its fitting: a path where the configuration names a file. */
export interface GivenSurface {
  readonly label: string
  readonly surface: Surface
}

const isMeantBy = (name: string, { label, surface }: GivenSurface): boolean =>
  [label, surface.name, surface.servedWith].includes(name)

/** The standard routes stand behind those of `v1`: where both have one path, the standard routes serve it. */
const v1First = (one: { readonly name: string }, other: { readonly name: string }): number =>
  Number(other.name === 'v1') - Number(one.name === 'v1')

const refuseDoubles = (given: readonly GivenSurface[]): void => {
  const names = given.map(({ surface }) => surface.name)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw new Error(`surfaces: ${twice} is the name of two`)
}

/** All that is given where nothing is asked for. Throws when a name stands for nothing or for two. */
export const servedOf = (wanted: readonly string[] | undefined, given: readonly GivenSurface[]): Served => {
  refuseDoubles(given)
  const all = given.map(({ surface }) => surface.name)
  const meant = (name: string, at: number): readonly string[] => {
    const surfaces = given.filter((surface) => isMeantBy(name, surface)).map(({ surface }) => surface.name)
    if (surfaces.length === 0) throw new Error(`settings: surfaces.${at} is none of ${all.join(', ')}`)
    return surfaces.toSorted((one, other) => Number(other === name) - Number(one === name))
  }
  const found = (wanted ?? all).map((name, at) => ({ name, surfaces: meant(name, at) }))
  const names = [...new Set(found.toSorted(v1First).flatMap(({ surfaces }) => surfaces))]
  return {
    names,
    surfaces: new Map(given.flatMap(({ surface }) => (names.includes(surface.name) ? [[surface.name, surface]] : []))),
  }
}
