/** Imports that the table of rooms refuses and that still stand, by the file that imports. The list stays empty. */
export const arrowsLeft: Readonly<Record<string, readonly string[]>> = {}
