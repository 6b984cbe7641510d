import { use } from '../../../../core/plugin.ts'
import { Upstream } from '../../../../core/ports/upstream.ts'
import useLite from '../../../../plugins/providers/use-lite.ts'
import { fitted } from '../../../fitted.ts'
import type { Embed } from './measure.ts'

/** The offline model, and how to let go of it. */
export const offline = (): { readonly embed: Embed; dispose(): Promise<void> } => {
  const container = fitted(use(useLite))
  const [upstream] = container.supply({ upstreams: Upstream }).upstreams
  const signal = new AbortController().signal
  return {
    embed: async (texts) => (await upstream!.embed!({ model: 'use-lite-embedding', texts }, signal)).vectors,
    dispose: () => container.dispose(),
  }
}
