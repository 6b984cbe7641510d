import { writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import * as v from 'valibot'
import { openapi } from '../core/http/openapi.ts'
import { table } from '../core/routes/all.ts'
import { SettingsShape } from '../core/settings.ts'
import { configSchema } from './docs/config-schema.ts'
import { configurationPage } from './docs/configuration.ts'
import { pluginsPage } from './docs/plugins.ts'

/** The pages that are made from the code, by where they are kept. */
export const pages = async (): Promise<Readonly<Record<string, string>>> => {
  const settings = v.parse(SettingsShape, {})
  return {
    'docs/configuration.md': await configurationPage(),
    'docs/plugins.md': await pluginsPage(),
    'docs/config.schema.json': await configSchema(),
    'docs/openapi.json': `${JSON.stringify(openapi(table(settings.surfaces), settings), null, 2)}\n`,
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const [path, text] of Object.entries(await pages())) await writeFile(path, text)
}
