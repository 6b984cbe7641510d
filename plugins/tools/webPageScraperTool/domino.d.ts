declare module 'domino' {
  /** The document of a page; with `whole` also that of an empty one. */
  export function createDocument(html: string, whole: true): Document
}
