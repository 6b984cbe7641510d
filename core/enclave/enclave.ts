import type { Container } from '../container.ts'
import { NotFound, Unavailable } from '../errors.ts'
import { Clock } from '../ports/host.ts'
import type { Enclave, Evidence, Grant, Keyset, SealedReply, Shelf } from '../ports/enclave.ts'
import { type Use, billing, summed } from '../inference/bill.ts'
import { Prover } from '../ports/prover.ts'
import { Tool } from '../ports/tool.ts'
import { checks, lengths } from '../wire/body.ts'
import { toHex } from '../wire/hex.ts'
import { type Kem, kems } from '../wire/kem.ts'
import { enclaveKid, printKeyset, reportData } from '../wire/keyset.ts'
import { audio } from './audio.ts'
import { chat, chatNeeds } from './chat.ts'
import { Epochs } from './epochs.ts'
import { Misbound, type Opened, type Outer, type Sealed, opening } from './open.ts'
import { receive } from './receive.ts'
import { sealedFailure } from './reply.ts'
import { indexOuter, retrieval } from './retrieval.ts'
import { outers, runTool } from './tool.ts'

export interface Inside {
  /** Ms that a key may be sealed to. */
  readonly epoch: number
  readonly kems: readonly Kem['name'][]
  /** Refuse sealed JSON that does not name its route. */
  readonly requireBinding: boolean
  readonly retrieval: { readonly model?: string | undefined; readonly cache: number }
  /** Bytes of a stored file that may be opened. */
  readonly file: number
  readonly releaseDigest: Uint8Array
}

interface Chapter {
  readonly outer: Outer
  /** It may have models work for it, and does not count that itself. */
  readonly bills?: boolean
  run(opened: Opened, grant: Grant, signal: AbortSignal, outer: Sealed, shelf: Shelf): Promise<SealedReply>
}

const inferenceParams = {
  cipherText: { field: 'cipherText', check: checks.cipherText },
  params: { field: 'encryptedInference', nonce: 'nonce' },
} as const

const audioOuter: Outer = {
  ...inferenceParams,
  parts: {
    encryptedFileName: { nonce: 'fileNameNonce', check: checks.name },
    encryptedFile: { nonce: 'fileNonce', check: checks.audio },
  },
  kid: 'enclaveKid',
  big: { field: 'encryptedFile', most: lengths.audio + 16 },
}

/** The inside of the sealed path: route → open → run → seal. */
export const enclave = (container: Container, settings: Inside): Enclave => {
  const { clock, prover } = container.supply({ clock: Clock, prover: Prover })
  const epochs = new Epochs(clock, {
    length: settings.epoch,
    kems: settings.kems,
    releaseDigest: settings.releaseDigest,
  })
  const open = opening(epochs, settings.requireBinding)
  const forChat = container.supply(chatNeeds)
  const { tools } = container.supply({ tools: Tool })
  const mostFile = settings.file
  const { index, search } = retrieval(forChat, {
    model: settings.retrieval.model,
    cache: settings.retrieval.cache,
    mostFile,
  })

  const chapters: Readonly<Record<string, Chapter>> = {
    'rvenc/chat/completions': {
      outer: { ...inferenceParams, parts: {}, kid: 'enclaveKid' },
      run: (opened, grant, signal) => chat(opened, grant, forChat, signal),
    },
    'rvenc/audio/transcriptions': {
      outer: audioOuter,
      run: (opened, grant, signal, outer) => audio(opened, outer, false, grant, forChat, signal),
    },
    'rvenc/audio/translations': {
      outer: audioOuter,
      run: (opened, grant, signal, outer) => audio(opened, outer, true, grant, forChat, signal),
    },
    'files/encrypted/index': {
      outer: indexOuter,
      run: (opened, { organization }, signal, outer, shelf) => index(opened, outer, organization, shelf, signal),
    },
    ...Object.fromEntries(
      tools.map((tool): [string, Chapter] => [
        `tools/${tool.name}`,
        {
          outer: outers[tool.kind],
          bills: tool.takes !== undefined,
          run: (opened, _, signal, outer, shelf) => runTool(opened, outer, tool, { shelf, search, mostFile }, signal),
        },
      ]),
    ),
  }

  let cached: { readonly keyset: string; readonly evidence: Evidence } | null = null

  const published = async (challenge: Uint8Array): Promise<Keyset> => {
    const body = epochs.keyset()
    const bytes = printKeyset(body)
    const keyset = toHex(bytes)
    const plain = challenge.every((byte) => byte === 0)
    const evidence =
      plain && cached?.keyset === keyset ? cached.evidence : await prover.prove(reportData(bytes, challenge))
    if (plain) cached = { keyset, evidence }
    const keys = body.keys.map((key) => ({
      enclaveKid: enclaveKid(key),
      kem: kems.find(({ id }) => id === key.kem)!.name,
      public_key: toHex(key.publicKey),
      not_before: key.notBefore,
      not_after: key.notAfter,
    }))
    return { keyset, keys, evidence }
  }

  return {
    keys: () => published(new Uint8Array(32)),
    attest: (challenge) => published(challenge),
    models: async (signal) =>
      (await forChat.catalog.list(signal)).map(({ name, settings, candidates }) => ({
        name,
        settings: { ...settings, owned_by: settings.owned_by ?? candidates[0]?.provider },
      })),
    async handle(route, sealed, grant, signal, shelf = none) {
      const chapter = chapters[route]
      if (chapter === undefined) throw new NotFound('Not found')
      const outer =
        Symbol.asyncIterator in sealed ? await receive(sealed as AsyncIterable<Uint8Array>, chapter.outer) : sealed
      let opened: Opened
      try {
        opened = open(route, chapter.outer, outer as Sealed)
      } catch (error) {
        if (error instanceof Misbound) return sealedFailure(error.opened.secret, error)
        throw error
      }
      const uses: Use[] = []
      const run = () => chapter.run(opened, grant, signal, outer as Sealed, shelf)
      try {
        if (!chapter.bills) return await run()
        const reply = await billing(uses, run)
        return reply.kind === 'body' ? { ...reply, trailer: summed(uses) } : reply
      } catch (error) {
        signal.throwIfAborted()
        return sealedFailure(opened.secret, error, summed(uses))
      }
    },
  }
}

const nothing = async (): Promise<never> => {
  throw new Unavailable()
}

/** Of a call that was given no stores. */
const none: Shelf = {
  file: nothing,
  content: nothing,
  keep: nothing,
  indexes: nothing,
  index: nothing,
  keepIndex: nothing,
}
