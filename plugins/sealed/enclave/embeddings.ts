import * as v from 'valibot'
import type { Supplied } from '../../../core/container.ts'
import { embed, embedding, embeddingFields, printEmbedded, usedIn } from '../../shared/embedding.ts'
import { provenBy } from '../../../core/inference/proven.ts'
import type { Grant, SealedReply } from '../../../core/ports/enclave.ts'
import { type chatNeeds, confidentialModel } from './chat.ts'
import type { OpenedRequest } from './open.ts'
import { checkParameters } from './refusals.ts'
import { printedReply } from './reply.ts'

/** The sealed parameters. */
export const EmbeddingRequest = v.object({ ...embeddingFields, provider: v.nullish(v.string()) })

/** Decrypted texts or tokens → vectors → one sealed answer. */
export const embeddings = async (
  opened: OpenedRequest,
  grant: Grant,
  { catalog, inference }: Supplied<typeof chatNeeds>,
  signal: AbortSignal,
): Promise<SealedReply> => {
  const wish = checkParameters(EmbeddingRequest, opened.params)
  const entry = embedding(await confidentialModel(catalog, grant, wish.model, 'embed', signal), wish)
  const provider = wish.provider || null
  const { answer, backend } = await embed(inference, wish, { entry, provider, extra: {} }, signal)
  const trailer = { model: entry.name, backend, usage: usedIn(answer, wish), audioSeconds: null, ...provenBy(answer) }
  return printedReply(opened, await printEmbedded(answer, wish, entry.name), trailer)
}
