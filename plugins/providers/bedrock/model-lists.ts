import type { JsonObject } from '../../../core/dialects/json-object.ts'
import { garbled } from '../../shared/backend.ts'
import type { Model, ModelType } from '../../../core/ports/upstream.ts'

const strings = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : [])

/** Null for models of routes that the gateway has no likeness of. */
const typeOf = (id: string, outputs: readonly string[]): ModelType | null => {
  if (outputs.includes('TEXT')) return 'CHAT'
  return outputs.includes('EMBEDDING') && /titan-embed-text|cohere\.embed/.test(id) ? 'EMBEDDING' : null
}

const described = ({ modelName, inputModalities }: JsonObject): Pick<Model, 'description' | 'modalities'> => ({
  ...(typeof modelName === 'string' && { description: modelName }),
  ...(Array.isArray(inputModalities) && {
    modalities: inputModalities.map((modality) => String(modality).toLowerCase()),
  }),
})

/** The models that can be asked by their own ids, and all that chat, by id. Throws UpstreamFailed when it is no list. */
export const modelsIn = ({ modelSummaries: summaries }: JsonObject) => {
  if (!Array.isArray(summaries)) throw garbled('No list of models')
  const models: Model[] = []
  const chats = new Map<string, JsonObject>()
  for (const summary of summaries as readonly JsonObject[]) {
    const id = String(summary['modelId'])
    const type = typeOf(id, strings(summary['outputModalities']))
    if (type === null) continue
    if (type === 'CHAT') chats.set(id, summary)
    if (strings(summary['inferenceTypesSupported']).includes('ON_DEMAND'))
      models.push({ id, type, ...described(summary) })
  }
  return { models, chats }
}

/** The inference profiles, by which newer models are asked, of models that chat. */
export const profilesIn = (
  { inferenceProfileSummaries: summaries }: JsonObject,
  chats: ReadonlyMap<string, JsonObject>,
): readonly Model[] => {
  if (!Array.isArray(summaries)) throw garbled('No list of inference profiles')
  return (summaries as readonly JsonObject[]).flatMap(({ inferenceProfileId: id, models, status }): Model[] => {
    const [first] = Array.isArray(models) ? (models as readonly JsonObject[]) : []
    const model = chats.get(String(first?.['modelArn']).replace(/^.*foundation-model\//, ''))
    return typeof id === 'string' && model && status === 'ACTIVE' ? [{ id, type: 'CHAT', ...described(model) }] : []
  })
}
