/** Letters, digits and `. _ @ -`, with a letter or a digit at both ends, at most 128 of them. */
export const nameShape = /^[A-Za-z0-9](?:[\w.@-]{0,126}[A-Za-z0-9])?$/

/** Whether a new user or organisation may be called so. What is stored keeps its name. */
export const isName = (text: string): boolean => nameShape.test(text) && !Object.hasOwn(Object.prototype, text)
