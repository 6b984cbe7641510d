import { toJsonSchema } from '@valibot/to-json-schema'
import { ConfigShape } from '../../adapters/production/config/config.ts'
import { surfaceNames } from '../../adapters/production/config/surfaces.ts'
import { type Family, pluginNames } from '../../adapters/production/config/load-plugin.ts'
import { meanings } from './meanings.ts'

interface Schema {
  type?: string
  description?: string
  examples?: readonly string[]
  anyOf?: readonly Schema[]
  items?: Schema
  properties?: Readonly<Record<string, Schema>>
  additionalProperties?: Schema | boolean
}

/** Which family the plugin of a choice belongs to, by where the choice stands. */
const familyOf = (path: string): Family | null => {
  if (/(^|\.)providers\.<name>\.use$/.test(path)) return 'providers'
  if (/(^|\.)providers\.<name>\.evidence\.kind$/.test(path)) return 'backend-evidence'
  if (/^storage\.\w+\.use$/.test(path)) return 'storage'
  return path === 'enclave.evidence.use' ? 'evidence' : null
}

/** Writes the words of the pages into the schema, and the names of plugins where one is chosen. */
const describe = async (schema: Schema, path: string): Promise<void> => {
  const meaning = meanings[path]
  if (meaning !== undefined && schema.description === undefined) schema.description = meaning
  const family = familyOf(path)
  if (family !== null) schema.examples = pluginNames(family)
  if (path === 'surfaces[]' && schema.type === 'string') schema.examples = surfaceNames
  const at = (key: string) => (path === '' ? key : `${path}.${key}`)
  for (const [key, each] of Object.entries(schema.properties ?? {})) await describe(each, at(key))
  for (const each of schema.anyOf ?? []) await describe(each, path)
  if (schema.items !== undefined) await describe(schema.items, `${path}[]`)
  if (typeof schema.additionalProperties === 'object') await describe(schema.additionalProperties, at('<name>'))
}

/** The configuration file as JSON schema, for editors. */
export const configSchema = async (): Promise<string> => {
  const schema = toJsonSchema(ConfigShape, { errorMode: 'ignore', typeMode: 'input' }) as Schema
  const copy = structuredClone(schema)
  await describe(copy, '')
  return `${JSON.stringify({ title: 'The configuration of sealgate', ...copy }, null, 2)}\n`
}
