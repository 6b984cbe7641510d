import * as v from 'valibot'
import { BaseUrl } from '../../../core/dialects/backend.ts'
import type { Supplied } from '../../../core/container.ts'
import { Clock, Fetch } from '../../../core/ports/platform.ts'
import type { Upstream } from '../../../core/ports/upstream.ts'
import { chatBackend, type ChatBackend, type ChatUpstream } from './chat-backend.ts'

const needs = { fetch: Fetch, clock: Clock }

/** What a provider has when its plugin is made. */
export interface Account extends Supplied<typeof needs> {
  readonly baseUrl: string
  /** With the key of the account. */
  readonly headers: Readonly<Record<string, string>>
}

/** A vendor whose interface is the common chat format in the vendor's own words. */
export interface HostedChat<Entries extends v.ObjectEntries> {
  /** The address of the vendor's API, without a slash at the end. */
  readonly address: string
  /** Settings beside the key and the address. */
  readonly settings?: Entries
  /** What differs from the common format. */
  words(
    settings: { readonly baseUrl: string } & v.InferOutput<v.StrictObjectSchema<Entries, undefined>>,
  ): Partial<ChatBackend>
  /** The methods that the vendor has beside chat. */
  offers?(backend: ChatUpstream, account: Account): Partial<Upstream>
}

/** The settings, needs and methods of a provider that chats by a key and goes on from no prefix. */
export const hostedChat = <Entries extends v.ObjectEntries = {}>({
  address,
  settings,
  words,
  offers,
}: HostedChat<Entries>) => ({
  settings: v.strictObject({
    apiKey: v.pipe(v.string(), v.minLength(1)),
    baseUrl: v.optional(BaseUrl, address),
    ...(settings as Entries),
  }),
  needs,
  create(
    { fetch, clock }: Supplied<typeof needs>,
    own: { readonly apiKey: string; readonly baseUrl: string } & v.InferOutput<
      v.StrictObjectSchema<Entries, undefined>
    >,
    name: string,
  ): Upstream {
    const { apiKey, baseUrl } = own
    const headers = { authorization: `Bearer ${apiKey}` }
    const backend = chatBackend({ fetch, clock, baseUrl, headers, ...words(own) })
    const { models, chat, unheard } = backend
    const account = { fetch, clock, baseUrl, headers }
    return { name, models, chat, continues: false, ...(unheard && { unheard }), ...offers?.(backend, account) }
  },
})

/** Fields of the common format that OpenAI alone takes. */
const openaiAlone = ['store', 'modalities', 'audio', 'verbosity', 'prompt_cache_retention', 'safety_identifier']

/** The fields that a vendor refuses: those that OpenAI alone takes, and these. */
export const refusedFields = (...names: readonly string[]): ReadonlySet<string> => new Set([...openaiAlone, ...names])
