import { readFile, readdir } from 'node:fs/promises'
import * as v from 'valibot'
import { type AnyPlugin, isPlugin } from '../../core/plugin.ts'
import { Tool } from '../../core/ports/tool.ts'
import { Upstream } from '../../core/ports/upstream.ts'
import { descriptions, families, pluginSettings } from './meanings.ts'
import { cell, rowsOf } from './settings.ts'

const ending = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
const abilities = ['chat', 'decide', 'embed', 'transcribe', 'speak', 'draw'] as const

const inFamily = async (family: string): Promise<readonly string[]> =>
  (await readdir(new URL(`../../plugins/${family}/`, import.meta.url)))
    .filter((file) => /^[^.]+\.[jt]s$/.test(file))
    .map((file) => file.slice(0, -3))
    .sort()

/** Gives itself for whatever is asked of it: enough for a plugin that is made and never used. */
const anything: object = new Proxy(() => anything, { get: (_, name) => (name === 'then' ? undefined : anything) })

/** The plugin's own, with just the settings that it can't do without, and a key where it takes one. */
const made = (plugin: AnyPlugin): unknown => {
  const settings: Record<string, unknown> = {}
  for (const { path, byDefault, type } of plugin.settings ? rowsOf(plugin.settings) : []) {
    if ((byDefault === 'required' && !/[.[]/.test(path)) || path === 'apiKey')
      settings[path] = type.includes('URL') ? 'https://host.invalid' : 'x'
  }
  const supplied = Object.fromEntries(Object.keys(plugin.needs ?? {}).map((name) => [name, anything]))
  return plugin.create(supplied, v.parse(plugin.settings ?? v.strictObject({}), settings), plugin.name)
}

/** What a backend of the family can do, from the methods that it has. */
const abilitiesOf = async (plugin: AnyPlugin): Promise<readonly string[]> => {
  const upstream = made(plugin) as Upstream
  await upstream.dispose?.()
  return abilities.filter((ability) => upstream[ability] !== undefined)
}

/** The sentence above the plugin in its file, or what a tool says of itself. */
const descriptionOf = (plugin: AnyPlugin, source: string): string =>
  plugin.port.key === Tool.key
    ? (made(plugin) as Tool).description
    : (/\/\*\* ([^\n]*) \*\/\nexport default plugin\(/.exec(source)?.[1] ?? descriptions[plugin.name] ?? '')

/** The sentence above a setting in the plugin's file, or the one that is kept for it. */
const meaningOf = (plugin: string, path: string, source: string): string => {
  const key = path.slice(Math.max(path.lastIndexOf('.'), path.lastIndexOf(']')) + 1)
  const above = new RegExp(`/\\*\\* ([^\\n]*) \\*/\\n\\s*${key.replace(/\W/g, '\\$&')}:`).exec(source)?.[1]
  return above ?? pluginSettings[`${plugin}.${path}`] ?? pluginSettings[path] ?? ''
}

const chapterOf = async (family: string, name: string): Promise<string> => {
  const found = (await import(new URL(`../../plugins/${family}/${name}${ending}`, import.meta.url).href)) as {
    default: unknown
  }
  if (!isPlugin(found.default)) throw new Error(`${family}/${name} exports no plugin`)
  const plugin = found.default
  const source = await readFile(`plugins/${family}/${name}.ts`, 'utf8')
  const needs = Object.values(plugin.needs ?? {}).map((port) => (port as { name: string }).name)
  const rows = plugin.settings ? rowsOf(plugin.settings) : []
  const facts = [
    `Port \`${plugin.port.name}\``,
    ...(plugin.port.key === Upstream.key ? [`can ${(await abilitiesOf(plugin)).join(', ')}`] : []),
    needs.length > 0 ? `needs ${needs.map((need) => `\`${need}\``).join(', ')}` : 'needs nothing',
    ...(rows.length === 0 ? ['no settings'] : []),
  ]
  const table = rows.map(
    ({ path, type, byDefault }) =>
      `| \`${cell(path)}\` | ${cell(type)} | ${cell(byDefault)} | ${cell(meaningOf(name, path, source))} |`,
  )
  return [
    `### ${name}`,
    descriptionOf(plugin, source),
    `${facts.join(' · ')}.`,
    ...(rows.length > 0 ? [['| setting | type | default | meaning |', '|---|---|---|---|', ...table].join('\n')] : []),
  ].join('\n\n')
}

export const pluginsPage = async (): Promise<string> => {
  const parts: string[] = [families.opening]
  for (const [family, about] of Object.entries(families.each)) {
    parts.push(`## ${family}`, about)
    for (const name of await inFamily(family)) parts.push(await chapterOf(family, name))
  }
  return `${parts.join('\n\n')}\n`
}
