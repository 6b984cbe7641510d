import { clearRequests } from './http-request.ts'
import { type TranscribeAudio, audioTranscriber } from './audio.ts'
import { type Completions, completions } from './chat.ts'
import { SealgateError } from './error.ts'
import { type Decisions, decisions } from './decisions.ts'
import { type Embedder, embedder } from './embeddings.ts'
import { type FileAccess, fileAccess } from './files.ts'
import { type FileContext, recordChecks } from './record-checks.ts'
import { keysOf } from './keys.ts'
import { type MemoryStore, memoryOf } from './memory.ts'
import { type ReceiptLog, logOf } from './receipt-log.ts'
import { partsSealer, sealedSender } from './send-sealed.ts'
import { type Tools, tools } from './tools.ts'
import { type IndexAndRotate, indexAndRotate } from './index-and-rotate.ts'
import { type Verified, verifiedFactsOf } from './verified.ts'
import { type Policy, policyOf } from './verify.ts'
import { sealingKeys } from './seal-request.ts'

/** Chats need a `policy` beside address and key. Stored files need the `kek`, too. */
export interface ConnectOptions {
  /** The gateway's address, without a path. */
  readonly baseUrl: string
  readonly apiKey: string
  /** The proof that an enclave must give. Without it the client seals nothing. */
  readonly policy?: Policy
  /** 64 hex characters: the key that wraps the keys of stored files. The client never sends it. */
  readonly kek?: string
  /** The retrieval key, wrapped with the KEK, as `newRagDek` makes it. */
  readonly wrappedRagDek?: string
  /** The latest state of each file. Without it, no client notices that a gateway returns an older one. */
  readonly memory?: MemoryStore
  /** Accepts only bound files. Files of literal and older clients are not bound. */
  readonly requireBound?: boolean
  /** The address of tools and indexing, when it differs from `baseUrl`. */
  readonly toolsUrl?: string
  /** Replaces the platform's `fetch`, such as for a proxy. */
  readonly fetch?: typeof globalThis.fetch
}

export type Files = Omit<FileAccess, 'checked' | 'opened'> & IndexAndRotate

/** The client of a gateway's sealed routes. It holds keys in memory and writes nothing to a disk. */
export interface Client {
  /** The shape of the common chat client, so that code changes its import alone. */
  readonly chat: { readonly completions: Completions }
  readonly audio: { readonly transcriptions: TranscribeAudio; readonly translations: TranscribeAudio }
  readonly decisions: Decisions
  readonly embeddings: Embedder
  readonly files: Files
  readonly tools: Tools
  /** The log of receipts, checked here. */
  readonly receipts: ReceiptLog
  /** Asks the enclave for evidence, checks it and returns the proven facts. */
  verify(): Promise<Verified>
  /** The confidential models, as the gateway lists them. */
  readonly models: { list(): Promise<readonly { readonly model: string }[]> }
}

export { newKek, newRagDek, rewrapRagDek } from './keys.ts'
export { refusalLines, verdictLines } from './verdict-lines.ts'

/** Seals and opens everything on this machine. Only the verified enclave reads the plaintext in between. */
export const connect = ({
  apiKey,
  policy: given = {},
  fetch = globalThis.fetch,
  kek,
  wrappedRagDek,
  memory: store,
  requireBound = false,
  ...at
}: ConnectOptions): Client => {
  const policy = policyOf(given)
  const shared = { apiKey, policy, fetch: fetch.bind(globalThis) }
  const connectionTo = (url: string) => ({ ...shared, baseUrl: url.replace(/(?<!\/)\/+$/, '') })
  const [main, aside] = [connectionTo(at.baseUrl), connectionTo(at.toolsUrl ?? at.baseUrl)]
  const enclaveKeys = sealingKeys(main)
  const keys = keysOf(kek, wrappedRagDek)
  const send = sealedSender(main, enclaveKeys)
  const sealParts = partsSealer(enclaveKeys)
  const [ask, askAside] = [clearRequests(main), clearRequests(aside)]
  const memory = memoryOf(store, keys)
  const footing: FileContext = { ask, keys, memory, checks: recordChecks(keys, memory, requireBound) }
  const access = fileAccess(footing, sealParts)
  const { checked: _, opened: __, ...files } = access
  const indexing = indexAndRotate(footing, askAside, access, sealParts, store)
  const upload: Files['upload'] = async (file, options = {}) => {
    const kept = await files.upload(file, options)
    if (!kept.is_duplicate || !options.index) return kept
    const [begun] = await indexing.index([kept.id], options.signal)
    return { ...kept, rag_status: begun?.success ? 'running' : 'failed' }
  }
  return {
    chat: { completions: completions(send) },
    audio: {
      transcriptions: audioTranscriber(send, 'transcriptions'),
      translations: audioTranscriber(send, 'translations'),
    },
    decisions: decisions(send),
    embeddings: embedder(send),
    files: { ...files, ...indexing, upload },
    tools: tools(askAside, sealedSender(aside, enclaveKeys), footing, access),
    receipts: logOf(
      (path) => ask.data('GET', path),
      async (of) =>
        (of === null ? await enclaveKeys.current(false, null) : (await enclaveKeys.verified(of.enclave)).key).signers ??
        [],
    ),
    verify: async () => verifiedFactsOf(await enclaveKeys.verified()),
    models: {
      async list() {
        const answer = await ask.raw('GET', 'rvenc/models')
        const body = (await answer.json().catch(unreachable)) as { data?: unknown } | null
        return Array.isArray(body?.data) ? body.data : unreachable()
      },
    },
  }
}

/** Throws for an answer that is no list, as for no answer at all. */
const unreachable = (cause?: unknown): never => {
  throw new SealgateError('unreachable', { cause })
}
