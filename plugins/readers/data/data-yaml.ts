import { Unreadable } from '../../../core/errors.ts'
import { optionalPackage } from '../../shared/optional-package.ts'

/** The library compares every alias with all earlier anchors and aliases: this many comparisons are fast. */
const mostLooks = 20_000_000

/**
 * The documents of a text. Throws when the text is not YAML, when aliases multiply, and when there are too many
 * aliases.
 */
export const parseYaml = async (text: string): Promise<readonly unknown[]> => {
  const { isAlias, isNode, parseAllDocuments, visit } = await optionalPackage('yaml', () => import('yaml'))
  const documents = [
    ...parseAllDocuments(text, {
      intAsBigInt: true,
      merge: true,
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: 'silent',
    }),
  ]
  for (const document of documents) {
    if (document.errors[0]) throw document.errors[0]
    let [aliases, named] = [0, 0]
    visit(document, (_, node) => {
      if (isAlias(node)) aliases++
      if (isAlias(node) || (isNode(node) && 'anchor' in node && node.anchor !== undefined)) named++
      if (aliases * named > mostLooks) throw new Unreadable()
    })
  }
  // An alias is the same object again, so that many plain aliases cost little.
  return documents.map((document) => document.toJS({ maxAliasCount: 10_000 }) as unknown)
}
