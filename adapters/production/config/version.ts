import { readFile } from 'node:fs/promises'

/** Which release this is. */
export const version = async (): Promise<string> =>
  JSON.parse(await readFile(new URL('../../../../package.json', import.meta.url), 'utf8')).version
