import * as v from 'valibot'
import { plugin } from '../../../core/plugin.ts'
import { type Ability, candidateOf, entryOf, type Entry } from '../../../core/inference/models/catalog-entry.ts'
import { Catalog } from '../../../core/inference/models/catalog.ts'
import { type Model, type ModelType, Upstream } from '../../../core/ports/upstream.ts'
import { ModelSettings } from '../../../core/settings.ts'

const typesOf: Readonly<Record<Ability, ModelType>> = {
  chat: 'CHAT',
  decide: 'DECISION',
  transcribe: 'AUDIO_TRANSCRIPTION',
  speak: 'AUDIO_SPEECH',
  draw: 'IMAGE',
  embed: 'EMBEDDING',
}

/** The models of the one gateway behind: its enclave alone knows which of them there are, so each name is asked for. */
export const askingCatalog = plugin({
  port: Catalog,
  name: 'catalog',
  renewed: true,
  needs: { upstreams: Upstream },
  create: ({ upstreams: [upstream] }): Catalog => {
    if (upstream === undefined) throw new Error('A gateway is needed behind this one')
    const entry = ({ id, type, description, created }: Model): Entry => {
      const told = { ...(description !== undefined && { description }), ...(created !== undefined && { created }) }
      const settings = v.parse(ModelSettings, { type, ...told, upstreams: [{ provider: upstream.name }] })
      return entryOf(id, settings, [candidateOf(upstream, id)])
    }
    const list = async (signal: AbortSignal) => (await upstream.models(signal)).map(entry)
    return {
      find: async (name, signal, ability) =>
        ability === undefined
          ? ((await list(signal)).find((listed) => listed.name === name) ?? null)
          : entry({ id: name, type: typesOf[ability] }),
      recall: () => null,
      isWhole: () => true,
      list,
    }
  },
})
