import * as v from 'valibot'
import { RefusedConfiguration } from '../../../core/errors.ts'
import { plugin } from '../../../core/plugin.ts'
import { Cache } from '../../../core/ports/cache.ts'
import { Clock, Log } from '../../../core/ports/platform.ts'
import { Upstream } from '../../../core/ports/upstream.ts'
import { Settings, type ModelSettings } from '../../../core/settings.ts'
import { idsOf } from './listed-model.ts'
import { modelLists } from './provider-lists.ts'
import { Catalog } from '../../../core/inference/models/catalog.ts'
import { entryOf, type Candidate, type Entry } from '../../../core/inference/models/catalog-entry.ts'
import { candidateOf } from './candidate.ts'

/** Whether this side of the enclave's wall serves the model, and so must know all its providers. */
const isOurs = (settings: ModelSettings, inside: boolean) => (inside ? settings.confidential : settings.standard)

const refused = (path: string, words: string) => new RefusedConfiguration(path + words, [path])

/** Throws for a provider that is not there, and for settings that could serve no call: at a start and at a reload. */
export const catalog = plugin({
  port: Catalog,
  name: 'catalog',
  renewed: true,
  settings: v.strictObject({
    /** Inside the enclave: confidential models alone. */
    inside: v.optional(v.boolean(), false),
  }),
  needs: { upstreams: Upstream, settings: Settings, cache: Cache, clock: Clock, log: Log },
  create: ({ upstreams, settings, cache, clock, log }, { inside }): Catalog => {
    const models = Object.entries(settings.models)
    if (models.length === 0) return modelLists({ upstreams, cache, clock, log, inside })

    const byName = new Map(upstreams.map((upstream) => [upstream.name, upstream]))
    const entries = new Map<string, Entry>()
    const now = Math.floor(clock.now() / 1000)
    for (const [name, model] of models) {
      if (inside && !model.confidential) continue
      const candidates: Candidate[] = []
      for (const [index, listed] of model.upstreams.entries()) {
        const upstream = byName.get(listed.provider)
        const { weight, priority, context_tokens: context = model.context_tokens ?? null } = listed
        if (upstream) candidates.push(candidateOf(upstream, listed.model ?? name, { weight, priority, context }))
        // A confidential model's providers may live on the other side of the wall.
        else if (!model.confidential) throw refused(`models.${name}.upstreams.${index}.provider`, ' is not a provider')
      }
      if (candidates.length === 0 && isOurs(model, inside)) {
        throw refused(`models.${name}.upstreams`, ' names no provider of this side')
      }
      if (model.continues && isOurs(model, inside) && !candidates.some(goesOn)) {
        throw refused(`models.${name}.continues`, ': none of its providers can go on from the beginning of an answer')
      }
      entries.set(name, entryOf(name, { ...model, created: model.created || now }, candidates))
    }
    const list = [...entries.values()]
    const byId = idsOf(list)
    return {
      find: async (model) => entries.get(model) ?? byId.get(model) ?? null,
      recall: (model) => entries.get(model) ?? null,
      isWhole: () => true,
      list: async () => list,
    }
  },
})

const goesOn = ({ upstream }: Candidate): boolean => upstream.chat !== undefined && upstream.continues !== false
