import written from './catalog-words.json' with { type: 'json' }

/** `listed` is a model as a catalog lists it, for examples; `catalogWords` are what a catalog says of a model. */
export const { listed, catalogWords } = written

/** An example of a catalog, for every chapter that lists models. */
export const catalogSample = { object: 'list', data: [{ ...listed, model: 'rehearsal', name: 'rehearsal' }] }
