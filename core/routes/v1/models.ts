import { mayUse, type Caller } from '../../access/caller.ts'
import { json } from '../../http/reply.ts'
import { route, type Request } from '../../http/route.ts'
import { Catalog } from '../../inference/models/catalog.ts'
import type { Entry } from '../../inference/models/catalog-entry.ts'
import { unknownModel } from '../find-model.ts'
import { asGoogle, asOpenai, keyHeaders, openaiFaults, googleFaults } from './dialect-route.ts'

type ModelsRequest = Request<unknown, unknown, Caller>

const shared = { method: 'GET', access: 'any-key', keyHeaders, needs: { catalog: Catalog } } as const

const usable = async ({ caller, signal }: ModelsRequest, catalog: Catalog): Promise<readonly Entry[]> =>
  (await catalog.list(signal)).filter(({ name, settings }) => settings.standard && mayUse(caller, name))

const usedBy = async (asked: ModelsRequest, id: string, catalog: Catalog): Promise<Entry> => {
  const entry = await catalog.find(id, asked.signal)
  if (entry?.settings.standard && mayUse(asked.caller, entry.name)) return entry
  throw unknownModel(catalog, asked.caller, id)
}

/** Callers of the Messages dialect name its version on every request. */
const speaksMessages = ({ headers }: Pick<ModelsRequest, 'headers'>): boolean =>
  headers['anthropic-version'] !== undefined

const asOpenaiModel = ({ name, settings, candidates }: Entry) => ({
  id: name,
  object: 'model',
  created: settings.created,
  owned_by: settings.owned_by ?? candidates[0]?.provider ?? '',
})

const asMessagesModel = ({ name, settings }: Entry) => ({
  type: 'model',
  id: name,
  display_name: settings.name ?? name,
  created_at: new Date(settings.created * 1000).toISOString(),
})

const asGoogleModel = ({ name, settings, does }: Entry) => ({
  name: `models/${name}`,
  baseModelId: name,
  version: '1',
  displayName: settings.name ?? name,
  description: settings.description,
  supportedGenerationMethods: does.has('chat') ? ['generateContent', 'streamGenerateContent', 'countTokens'] : [],
})

const list = route({
  ...shared,
  path: '/v1/models',
  summary: 'Lists the models that the key may use, in the shape of the caller’s dialect.',
  errors: asOpenai,
  faults: openaiFaults,
  async handle(asked, { catalog }) {
    const entries = await usable(asked, catalog)
    if (!speaksMessages(asked)) return json({ object: 'list', data: entries.map(asOpenaiModel) })
    const data = entries.filter(({ does }) => does.has('chat')).map(asMessagesModel)
    return json({ data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null })
  },
})

const one = route({
  ...shared,
  path: '/v1/models/{id}',
  summary: 'Describes a model, in the shape of the caller’s dialect.',
  errors: asOpenai,
  faults: openaiFaults,
  async handle(asked, { catalog }) {
    const entry = await usedBy(asked, asked.params.id, catalog)
    return json((speaksMessages(asked) ? asMessagesModel : asOpenaiModel)(entry))
  },
})

const googleList = route({
  ...shared,
  path: '/v1beta/models',
  summary: 'Lists the models that the key may use, in the Gemini dialect.',
  errors: asGoogle,
  faults: googleFaults,
  handle: async (asked, { catalog }) => json({ models: (await usable(asked, catalog)).map(asGoogleModel) }),
})

const googleOne = route({
  ...shared,
  path: '/v1beta/models/{model}',
  summary: 'Describes a model in the Gemini dialect.',
  errors: asGoogle,
  faults: googleFaults,
  handle: async (asked, { catalog }) => json(asGoogleModel(await usedBy(asked, asked.params.model, catalog))),
})

export const models = [list, one, googleList, googleOne] as const
