import * as v from 'valibot'
import { asMessages, authorization, keyHeaders, messagesFaults, ofOpenai } from '../shared/dialect-route.ts'
import { batchNeeds } from './needs.ts'

/** What the routes for clients of OpenAI share. */
export const openaiBatches = { ...ofOpenai, needs: batchNeeds } as const

/** What the routes for clients of Anthropic share. */
export const messagesBatches = {
  access: { scope: 'chats.completion' },
  keyHeaders,
  authorization,
  errors: asMessages,
  faults: messagesFaults,
  headers: { 'request-id': '{id}' },
  needs: batchNeeds,
} as const

/** Uploads and results at once a key. */
export const streams = { places: { name: 'batches', most: 4 } } as const

const mostListed = 100

const limit = v.optional(
  v.pipe(
    v.string(),
    v.regex(/^[1-9]\d{0,4}$/, 'a whole number'),
    v.transform((text) => Math.min(Number(text), mostListed)),
  ),
  '20',
)

/** Which part of a list is asked for. */
export const pageQuery = v.object({ limit, after: v.optional(v.pipe(v.string(), v.maxLength(128))) })

/** The same of files. */
export const filesQuery = v.object({
  ...pageQuery.entries,
  order: v.optional(v.picklist(['asc', 'desc'])),
  purpose: v.optional(v.pipe(v.string(), v.maxLength(64))),
})

/** The same in the words of Anthropic. */
export const messagesPageQuery = v.object({
  limit,
  after_id: v.optional(v.pipe(v.string(), v.maxLength(128))),
  before_id: v.optional(v.pipe(v.string(), v.maxLength(128))),
})
