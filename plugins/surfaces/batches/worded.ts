import type { Caller } from '../../../core/access/caller.ts'
import { refuseMember } from '../../shared/members.ts'
import { readJson } from '../../../core/dialects/read-json.ts'
import { BadRequest } from '../../../core/errors.ts'
import type { Request } from '../../../core/http/route.ts'
import type { Ability, Candidate, Entry } from '../../../core/inference/models/catalog-entry.ts'
import { passageThrough } from '../../../core/ports/chat-filter.ts'
import { servedModel } from '../../shared/models/find-model.ts'
import { type Batches, moreOf } from '../../shared/more-abilities.ts'
import type { Given } from './needs.ts'

/** Bytes of one request of a batch. */
export const mostEntryBytes = 4 * 1024 * 1024

/** Paths of members in the header that tells what a vendor does not get. */
export const mostDropped = 32

/** Requests of one batch. */
const mostEntries = 1_000_000

/** The backend of a batch. The first request chooses it. */
export interface Chosen {
  readonly entry: Entry
  readonly candidate: Candidate
  readonly batches: Batches
  readonly asked: Asked
}

/** One request of a batch. */
export interface Asked {
  readonly model: string
  readonly ability: Ability
  /** The path that the request is for; null where a batch has one path. */
  readonly endpoint: string | null
  /** The request in the words of the vendor. */
  print(chosen: Chosen): string
}

/** How the requests of a dialect are read. Throws BadRequest. */
export interface Wording {
  readonly dialect: string
  /** What an entry is called in errors. */
  readonly noun: string
  read(value: unknown): Asked
}

const choose = async (
  { catalog, filters }: Given,
  caller: Caller,
  wish: Asked,
  { dialect }: Wording,
  signal: AbortSignal,
): Promise<Chosen> => {
  const entry = await servedModel(catalog, caller, wish.model, wish.ability, signal)
  if (passageThrough(filters, { model: entry.name, organization: caller.organization }) !== null)
    throw new BadRequest('A guard looks at the chats of this model, and sees none of a batch', {
      code: 'guard_refused',
    })
  const candidate = entry.candidates.find(({ upstream }) => moreOf(upstream).batches?.dialect === dialect)
  const batches = candidate && moreOf(candidate.upstream).batches
  if (candidate === undefined || batches === undefined)
    throw new BadRequest('No backend of the model takes batches', {
      validator: { model: 'Expected a model whose backend takes batches in this dialect' },
    })
  return { entry, candidate, batches, asked: wish }
}

/** Names the request in which the fault is. */
const placed = (error: unknown, place: string): unknown => {
  if (!(error instanceof BadRequest)) return error
  const fields = Object.entries(error.validator ?? { '': 'Expected a request of a batch' })
  const validator = Object.fromEntries(
    fields.map(([field, expected]) => [field === '' ? place : `${place}.${field}`, expected]),
  )
  return Object.assign(error, { validator })
}

/** Who sends the requests, and the time of the main loop that the sender pays for. */
type Sender = Pick<Request<unknown, unknown, Caller>, 'caller' | 'pace' | 'signal'>

/** The requests of a batch in the vendor's words, one after the other, and the backend that the first one chose. */
export const wordedRequests = (given: Given, { caller, pace, signal }: Sender, wording: Wording) => {
  let chosen: Chosen | null = null
  const { bodies } = given.settings
  const bounds = { ...bodies, outermost: bodies.members }
  const worded = async (bytes: Buffer): Promise<string> => {
    const wish = wording.read(await readJson(bytes, 'plain', bounds, pace))
    chosen ??= await choose(given, caller, wish, wording, signal)
    if (wish.model !== chosen.asked.model) refuseMember('model', 'Expected the model of the first request')
    if (wish.endpoint !== chosen.asked.endpoint) refuseMember('url', 'Expected the url of the first request')
    return wish.print(chosen)
  }
  return {
    /** Null before the first request. */
    chosen: () => chosen,
    async *texts(entries: AsyncIterable<Buffer>): AsyncGenerator<string> {
      let at = 0
      for await (const bytes of entries) {
        if (++at > mostEntries) throw tooMany()
        let text: string
        try {
          text = await worded(bytes)
        } catch (error) {
          throw placed(error, `${wording.noun}.${at}`)
        }
        yield text
      }
      if (at === 0) throw new BadRequest('The batch has no requests')
    },
  }
}

const tooMany = (most = mostEntries): BadRequest => new BadRequest(`A batch may have ${most} requests at most`)

/** What is thrown for a request that is too long. */
export const tooLong = (most = mostEntryBytes): BadRequest =>
  new BadRequest(`A request of a batch may have ${most} bytes at most`, { code: 'request_too_large' })
