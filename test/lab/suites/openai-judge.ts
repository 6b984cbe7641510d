import { readFile } from 'node:fs/promises'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'

type Json = Record<string, any>

/** What is judged: a whole answer, an event of a stream, or an error. */
export type Kind = 'chat' | 'chunk' | 'response' | 'event' | 'error'

/** Judges objects by OpenAI's description of its interface. */
export interface Judge {
  readonly version: string
  /** Empty for an object that its schema allows. */
  judge(kind: Kind, value: Json): readonly string[]
}

const schemas: Readonly<Record<Exclude<Kind, 'event'>, string>> = {
  chat: 'CreateChatCompletionResponse',
  chunk: 'CreateChatCompletionStreamResponse',
  response: 'Response',
  error: 'ErrorResponse',
}

/** The schema of each event, by the event's type. */
const eventSchemas = ({ ResponseStreamEvent: union, ...all }: Json): ReadonlyMap<string, string> =>
  new Map(
    (union.anyOf as readonly { readonly $ref: string }[]).flatMap(({ $ref }) => {
      const name = $ref.slice($ref.lastIndexOf('/') + 1)
      return (all[name].properties.type.enum as readonly string[]).map((type) => [type, name] as const)
    }),
  )

/** Faults of the branches of a union stand beside that of the union. */
const told = ({ errors }: ValidateFunction): readonly string[] =>
  (errors ?? []).map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`)

/** `nullable` of older versions of OpenAPI, in the words of JSON Schema. */
const nullables = (_: string, value: unknown): unknown => {
  const { nullable, ...schema } = (value ?? {}) as Json
  return nullable === true ? { anyOf: [schema, { type: 'null' }] } : value
}

/** Reads the description from a file of the user. */
export const judgeBy = async (file: string): Promise<Judge> => {
  const document = JSON.parse(await readFile(file, 'utf8'), nullables) as Json
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false, validateSchema: false })
  ajv.addSchema(document, 'openai')
  const validators = new Map<string, ValidateFunction>()
  const validatorOf = (name: string): ValidateFunction => {
    const made = validators.get(name) ?? ajv.compile({ $ref: `openai#/components/schemas/${name}` })
    validators.set(name, made)
    return made
  }
  const events = eventSchemas(document['components'].schemas)
  return {
    version: document['info'].version,
    judge(kind, value) {
      const name = kind === 'event' ? events.get(value['type']) : schemas[kind]
      if (name === undefined) return [`an event of an unknown type ${value['type']}`]
      const validate = validatorOf(name)
      const copy = structuredClone(value)
      for (let more = true; more;) {
        if (validate(copy)) return []
        more = withoutNull(copy, validate.errors ?? [])
      }
      return told(validate)
    },
  }
}

/**
 * Takes a member away that is null where a schema has no null: OpenAI's own server says so of members that may be absent,
 * such as `user` and `usage`. False where there is none.
 */
const withoutNull = (value: Json, errors: readonly ErrorObject[]): boolean => {
  for (const { keyword, instancePath } of errors) {
    if (keyword !== 'type') continue
    const path = instancePath.split('/').slice(1)
    const last = path.pop()
    const holder = path.reduce<Json | undefined>((at, name) => at?.[name], value)
    if (last === undefined || holder?.[last] !== null || Array.isArray(holder)) continue
    delete holder[last]
    return true
  }
  return false
}
