/** Generations of EPYC, whose keys and reports differ. */
export type Product = 'Milan' | 'Genoa' | 'Turin'

const components = ['fmc', 'bootloader', 'tee', 'snp', 'microcode'] as const
/** A part of the firmware with a level of its own; no level can make up for another. */
export type Component = (typeof components)[number]

/** A patch level of SEV-SNP. Milan and Genoa have no `fmc`; their value is 0. */
export type Tcb = Readonly<Record<Component, number>>

/** The place of each component in the 8 bytes. Only the product decides it. */
const places: Readonly<Record<Product, Readonly<Partial<Record<Component, number>>>>> = {
  Milan: { bootloader: 0, tee: 1, snp: 6, microcode: 7 },
  Genoa: { bootloader: 0, tee: 1, snp: 6, microcode: 7 },
  Turin: { fmc: 0, bootloader: 1, tee: 2, snp: 3, microcode: 7 },
}

/** The components of a product. */
export const componentsOf = (product: Product): readonly Component[] =>
  components.filter((component) => places[product][component] !== undefined)

/** Null when a byte outside all components is not zero. */
export const readTcb = (bytes: Uint8Array, product: Product): Tcb | null => {
  const placed = places[product]
  const used = new Set(Object.values(placed))
  if (bytes.some((byte, at) => byte !== 0 && !used.has(at))) return null
  const level = (component: Component): number => {
    const at = placed[component]
    return at === undefined ? 0 : bytes[at]!
  }
  return {
    fmc: level('fmc'),
    bootloader: level('bootloader'),
    tee: level('tee'),
    snp: level('snp'),
    microcode: level('microcode'),
  }
}

/** The first component of `one` that is lower than in `other`; null when no component is lower. */
export const lowerComponent = (one: Tcb, other: Tcb): Component | null =>
  components.find((component) => one[component] < other[component]) ?? null

export const equalTcb = (one: Tcb, other: Tcb): boolean => components.every((part) => one[part] === other[part])

/** The higher level of each component. */
export const highestTcb = (one: Tcb, other: Tcb): Tcb => ({
  fmc: Math.max(one.fmc, other.fmc),
  bootloader: Math.max(one.bootloader, other.bootloader),
  tee: Math.max(one.tee, other.tee),
  snp: Math.max(one.snp, other.snp),
  microcode: Math.max(one.microcode, other.microcode),
})
