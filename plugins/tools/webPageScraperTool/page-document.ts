import { optionalPackage } from '../../shared/optional-package.ts'

type Parse = (source: string) => Document

/** A page as a browser parses it: `html`, `head` and `body` are there, also where the page leaves them out. */
export const pageParser = (): Promise<Parse> => (loading ??= load())

let loading: Promise<Parse> | null = null

const load = async (): Promise<Parse> => {
  const { createDocument } = await optionalPackage('domino', () => import('domino'))
  letIterate(createDocument('', true).querySelectorAll('p'))
  // The library does not know the base of a page. Under this one, addresses stay as they are written.
  const baseURI = { value: 'about:blank' }
  return (source) => Object.defineProperties(createDocument(source, true), { baseURI })
}

/**
 * The library answers simple selectors with a live list, which has no iterator. It gets one over the elements of that
 * moment, since the search of the article removes some while it iterates.
 */
const letIterate = (list: NodeListOf<Element>): void => {
  const value = function (this: ArrayLike<Element>) {
    return Array.prototype.slice.call(this)[Symbol.iterator]()
  }
  Object.defineProperty(Object.getPrototypeOf(list), Symbol.iterator, { value })
}
