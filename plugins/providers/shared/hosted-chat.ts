import * as v from 'valibot'
import { BaseUrl } from '../../shared/backend.ts'
import type { Supplied } from '../../../core/container.ts'
import { Clock, Fetch, Log } from '../../../core/ports/platform.ts'
import type { Upstream } from '../../../core/ports/upstream.ts'
import type { MoreAbilities } from '../../shared/more-abilities.ts'
import { RequestChange } from './request-change.ts'
import { chatBackend, type ChatBackend, type ChatUpstream } from './chat-backend.ts'

const needs = { fetch: Fetch, clock: Clock, log: Log }

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
    ports: Supplied<typeof needs>,
    name: string,
  ): Partial<ChatBackend>
  /** The methods that the vendor has beside chat. */
  offers?(backend: ChatUpstream, account: Account): Partial<Upstream & MoreAbilities>
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
    request: v.optional(RequestChange),
    ...(settings as Entries),
  }),
  needs,
  create(
    ports: Supplied<typeof needs>,
    own: {
      readonly apiKey: string
      readonly baseUrl: string
      readonly request?: RequestChange | undefined
    } & v.InferOutput<v.StrictObjectSchema<Entries, undefined>>,
    name: string,
  ): Upstream {
    const { fetch, clock } = ports
    const { apiKey, baseUrl, request } = own
    const headers = { authorization: `Bearer ${apiKey}` }
    const backend = chatBackend({ fetch, clock, baseUrl, headers, request, ...words(own, ports, name) })
    const { models, chat, unheard, dialect, wire } = backend
    const account = { ...ports, baseUrl, headers }
    const spoken = { ...(unheard && { unheard }), ...(dialect && { dialect }), ...(wire && { wire }) }
    return { name, models, chat, continues: false, ...spoken, ...offers?.(backend, account) }
  },
})

/** Fields of the common format that OpenAI alone takes. */
const openaiAlone = ['store', 'modalities', 'audio', 'verbosity', 'prompt_cache_retention', 'safety_identifier']

/** The fields that a vendor refuses: those that OpenAI alone takes, and these. */
export const refusedFields = (...names: readonly string[]): ReadonlySet<string> => new Set([...openaiAlone, ...names])
