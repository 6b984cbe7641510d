import type { Front, Model, Self } from './answers.ts'
import { costsIn } from './format.ts'
import { type Gateway, unlessRefused } from './gateway.ts'

/** What the key of the reader may see; pages that need more are not there. */
export interface Sight {
  /** Keys, usage and audit of its organisation. */
  readonly administers: boolean
  /** The measurements of the whole gateway. */
  readonly measures: boolean
  /** The backends and all organisations' requests. */
  readonly operates: boolean
  /** Whether it may also rest and wake backends. */
  readonly steers: boolean
  /** Whether it may ask models that decide. */
  readonly decides: boolean
  /** Whether it may read the sealed files of its user. */
  readonly keepsFiles: boolean
  /** The id of the key; null where nobody tells it. */
  readonly key: string | null
  readonly links: Front['links']
}

/** Whether scopes reach this one, as the gateway decides it: whatever a key is for, it may read which models there are. */
export const reaches = (scopes: readonly string[], scope: string): boolean =>
  scopes.includes(scope) || (scope === 'models.read' && scopes.length > 0)

/** Throws Refused with 401 for a key that the gateway does not know. */
export const sightOf = async (gateway: Gateway): Promise<Sight> => {
  const { links } = await gateway.ask<Front>('GET', '/')
  const [self, metrics] = await Promise.all([
    // Administration may be switched off.
    unlessRefused(gateway.ask<Self>('GET', '/admin/self'), 404),
    // The surface may be switched off, or the key may lack the scope.
    unlessRefused(gateway.text('/metrics'), 403, 404),
  ])
  costsIn(self?.currency ?? null)
  const measures = metrics !== null
  const may = (scope: string) => self !== null && reaches(self.scopes, scope)
  const operates = self?.operator === true && may('api_key.read')
  const steers = operates && may('api_key.update')
  // Without administration nobody says what the key may do, so the routes themselves refuse.
  const decides = links['decisions'] !== undefined && (self === null || (may('chats.completion') && may('models.read')))
  const keepsFiles = may('files.encrypted.read')
  const key = self?.key ?? null
  return { administers: may('api_key.read'), measures, operates, steers, decides, keepsFiles, key, links }
}

/** Where models are listed, by the names of the front page's links. */
export const modelPaths = (links: Front['links']): Readonly<Record<string, string>> => ({
  ...(links['standard'] !== undefined && { standard: `${links['standard']}/models` }),
  ...(links['openai'] !== undefined && { openai: `${links['openai']}/models` }),
  ...(links['confidential'] !== undefined && { confidential: links['confidential'] }),
  ...(links['decisions'] !== undefined && { decisions: links['decisions'].replace(/\/decision$/, '/models') }),
})

export interface Listed {
  readonly model: string
  /** As a catalogue with prices describes it; null where none does. */
  readonly described: Model | null
  readonly clear: boolean
  readonly sealed: boolean
  readonly decides: boolean
}

const named = (series: Readonly<Record<string, unknown>>): string =>
  String(series['model'] ?? series['id'] ?? series['name'] ?? '')

type Rows = readonly Readonly<Record<string, unknown>>[]

/** By the names of the models: a gateway may list thousands. */
const read = async (gateway: Gateway, path: string | undefined): Promise<ReadonlyMap<string, Rows[number]>> => {
  if (path === undefined) return new Map()
  const { data, models = [] } = await gateway.read<{ readonly data?: Rows; readonly models?: Rows }>(path)
  return new Map((data ?? models).map((row) => [named(row), row]))
}

/** The models that the key may use, from all catalogues that this gateway serves. */
export const modelsOf = async (gateway: Gateway, { links }: Pick<Sight, 'links'>): Promise<readonly Listed[]> => {
  const paths = modelPaths(links)
  const lists = await Promise.all([
    read(gateway, paths['standard']),
    read(gateway, paths['openai']),
    read(gateway, paths['confidential']),
    read(gateway, paths['decisions']),
  ])
  const [standard, all, sealed, deciding] = lists
  const names = new Set(lists.flatMap((list) => [...list.keys()]))
  return [...names].sort().map((model) => {
    const described = standard.get(model) ?? sealed.get(model) ?? deciding.get(model) ?? all.get(model)
    return {
      model,
      described: described !== undefined && 'price_config' in described ? (described as unknown as Model) : null,
      clear: standard.has(model) || all.has(model),
      sealed: sealed.has(model),
      decides: deciding.has(model),
    }
  })
}
