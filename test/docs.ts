import { writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { memory } from '../adapters/memory/index.ts'
import { createGateway } from '../core/gateway.ts'
import { configSchema } from './docs/config-schema.ts'
import { configurationPage } from './docs/configuration.ts'
import { pluginsPage } from './docs/plugins.ts'

/** The description that a gateway with every surface and tool gives of itself. */
const interfacePage = async (): Promise<string> => {
  const gateway = createGateway(memory())
  try {
    const answer = await gateway.fetch(new Request('http://gateway/openapi.json'))
    return `${JSON.stringify(await answer.json(), null, 2)}\n`
  } finally {
    await gateway.close()
  }
}

/** The pages that are made from the code, by where they are kept. */
export const pages = async (): Promise<Readonly<Record<string, string>>> => {
  return {
    'docs/configuration.md': await configurationPage(),
    'docs/plugins.md': await pluginsPage(),
    'docs/config.schema.json': await configSchema(),
    'docs/openapi.json': await interfacePage(),
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const [path, text] of Object.entries(await pages())) await writeFile(path, text)
}
