import { engine } from '../engine.ts'

/** The documents of a text. Throws for what is no YAML, and for aliases that multiply. */
export const parseYaml = async (text: string): Promise<readonly unknown[]> => {
  const { parseAllDocuments } = await engine('yaml', () => import('yaml'))
  const documents = [
    ...parseAllDocuments(text, {
      intAsBigInt: true,
      merge: true,
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: 'silent',
    }),
  ]
  for (const { errors } of documents) if (errors[0]) throw errors[0]
  // An alias is the same object once more, so that many plain ones cost nothing.
  return documents.map((document) => document.toJS({ maxAliasCount: 10_000 }) as unknown)
}
