/** Whether `npm run night` asks for all scenes and cases, where `npm test` plays a stated sample of them. */
export const isWhole = process.env['SEALGATE_WHOLE'] === '1'

/** Chooses the samples of `npm test`: the day, unless SEALGATE_SEED names one. */
export const seed = Number(process.env['SEALGATE_SEED'] ?? Math.floor(Date.now() / 86_400_000))

/** Every so-many-th item, from one that the seed names: as many days play all of them. The night plays them all at once. */
export const sampled = <T>(items: readonly T[], every: number, from = seed): readonly T[] =>
  isWhole ? items : items.filter((_, at) => (at + from) % every === 0)
