import { ConfigShape } from '../../adapters/production/config/config.ts'
import { pluginNames } from '../../adapters/production/config/load-plugin.ts'
import { fetch } from '../../adapters/production/platform.ts'
import { configFromEnv } from '../../adapters/production/config/env-config.ts'
import { chapters, meanings, variables } from './meanings.ts'
import { cell, type Row, rowsOf } from './settings.ts'

/** Every key of the file; what `outside` may hold is the door's own business, so its shape is taken from there. */
export const configurationRows = (): readonly Row[] =>
  rowsOf(ConfigShape).flatMap((row) => (row.path === 'outside' ? rowsOf(fetch.settings!) : [row]))

const chapterOf = ({ path }: Row): string => path.replace(/[.[].*$/, '')

const table = (rows: readonly Row[]): string =>
  [
    '| key | type | default | meaning |',
    '|---|---|---|---|',
    ...rows.map(
      ({ path, type, byDefault }) =>
        `| \`${cell(path)}\` | ${cell(type).replaceAll('<', '\\<')} | ${cell(byDefault)} | ${meanings[path] ?? ''} |`,
    ),
  ].join('\n')

/** Variables that bring a provider or a tool of their own, as far as its plugin is there. */
export const familiar = async (): Promise<ReadonlyMap<string, string>> => {
  const tools = pluginNames('tools')
  const read = new Set<string>()
  configFromEnv(new Proxy({}, { get: (_, name) => void read.add(String(name)) }), tools)
  const found = new Map<string, string>()
  const always = Object.keys(configFromEnv({}, tools).providers)
  for (const name of read) {
    const { providers, tools: chosen = {} } = configFromEnv({ [name]: 'x' }, tools)
    const [, provider] = Object.entries(providers).find(([key]) => !always.includes(key)) ?? []
    const [tool] = Object.entries(chosen).find(([, settings]) => Object.keys(settings).length > 0) ?? []
    if (provider && pluginNames('providers').includes(provider.use)) found.set(name, `provider \`${provider.use}\``)
    if (tool) found.set(name, `tool \`${tool}\``)
  }
  return found
}

export const configurationPage = async (): Promise<string> => {
  const rows = configurationRows()
  const groups = [...new Set(rows.map(chapterOf))]
  const single = groups.filter((group) => rows.filter((row) => chapterOf(row) === group).length === 1)
  const rest = groups.filter((group) => !single.includes(group))
  return `${chapters.opening}

## Environment

| variable | meaning |
|---|---|
${Object.entries(variables)
  .map(([name, meaning]) => `| \`${name}\` | ${meaning} |`)
  .join('\n')}

${chapters.surroundings}

| variable | brings |
|---|---|
${[...(await familiar())].map(([name, brings]) => `| \`${name}\` | ${brings} |`).join('\n')}

## Top level

${table(rows.filter((row) => single.includes(chapterOf(row))))}

${rest.map((group) => `## \`${group}\`\n\n${table(rows.filter((row) => chapterOf(row) === group))}`).join('\n\n')}
`
}
