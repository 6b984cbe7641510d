import * as v from 'valibot'
import { enveloped } from '../../http/envelope.ts'
import type { Chapter } from '../../http/reference.ts'

const envelope = {
  error: null,
  message: null,
  env: 'production',
  log: { request_id: '01a1fc7c-78dd-71b9-a66b-ea0f67dc77a8' },
  validator: null,
  support_id: '01a1fc7c-78dd-71b9-a66b-ea0f67dc77a8',
}

const done = { status: 200, ...envelope }

const id = 'key_01a1fc7c-78dd-71b9-a66b-ea0f67dc77a8'

const key = {
  id,
  name: 'ci',
  organization: 'default',
  user: 'ada',
  team: null,
  mode: 'live',
  scopes: ['chats.completion', 'models.read'],
  models: null,
  addresses: null,
  limits: { requestsPerSecond: 5 },
  makers: [],
  hint: 'q7Xd',
  created_at: 1893456000000,
  expires_at: null,
  revoked_at: null,
}

const pagination = { limit: 20, offset: 0, total: 1, has_more: false }

const used = {
  key: id,
  day: '2030-01-31',
  model: 'rehearsal',
  requests: 12,
  input: 3400,
  output: 820,
  reasoning: 0,
  cached: 0,
  audio_seconds: 0,
  estimated: 0,
  unanswered: 0,
  unpriced: 0,
  cost: 0.42,
  estimated_cost: 0,
}

const act = {
  id: '01a1fc7c-78dd-71b9-a66b-ea0f67dc77a8',
  at: 1893456000000,
  actor: id,
  user: 'ada',
  action: 'key.create',
  object: 'key_01a1fc7d-0c4e-7a31-9d55-1f2e3a4b5c6d',
  request: '01a1fc7c-78dd-71b9-a66b-ea0f67dc77a8',
  outcome: 'done',
}

export const admin: Chapter = {
  name: 'Keys, usage and audit',
  about: 'A key administers the keys of its own organisation, and gives nothing that it has not itself.',
  words: {
    'path.id': 'The id of a key.',
    name: 'A name for people.',
    models: 'The models that the key may use. It is null for all.',
    addresses: 'The addresses and ranges from which the key is taken. It is null for all.',
    limits: 'What differs from the configured limits. Null means no limit.',
    requestsPerSecond: 'Requests per second.',
    bytesPerMinute: 'Bytes of request bodies in a minute.',
    concurrentRequests: 'Requests under way at once.',
    tokensPerMinute: 'Tokens read and written in a minute.',
    tokensPerDay: 'Tokens read and written in a day.',
    audioMinutesPerDay: 'Minutes of sound in a day.',
    costPerDay: 'What calls may cost in a day, in the currency of the prices.',
    costPerWeek: 'What calls may cost in a week.',
    costPerMonth: 'What calls may cost in a month.',
    expires_at: 'The time at which the key ends, in Unix milliseconds. It is null for a key without end.',
    'body.user': 'The user of the key: the caller’s own when absent. Another one takes `api_key.delegate`.',
    team: 'The team of the key, whose budget it shares. It is null for a key without a team.',
    mode: 'The plane of the key: `live`, or `test` for gateways that are not in production.',
    scopes: 'What the key may do.',
    id: 'The id of the key.',
    organization: 'The organisation of the key.',
    user: 'The user of the key.',
    makers: 'The ids of the keys that this one descends from. The last one made it.',
    hint: 'The last characters of the key, for people.',
    created_at: 'The time at which the key was made, in Unix milliseconds.',
    revoked_at: 'The time at which the key was revoked. It is null for a key that lives.',
    'data.key': 'The key itself. No other answer has it.',
    keys: 'The keys, newest first.',
    'query.key': 'The id of the key whose use is shown.',
    'data.usage': 'What was used, the latest day first.',
    'usage.key': 'The id of the key.',
    'usage.day': 'The day, in UTC.',
    'usage.model': 'The model as callers name it.',
    'usage.requests': 'Requests.',
    'usage.input': 'Tokens of requests.',
    'usage.output': 'Tokens of answers.',
    'usage.reasoning': 'Tokens of reasoning, which `output` includes.',
    'usage.cached': 'Tokens that a backend’s cache had, which `input` includes.',
    'usage.audio_seconds': 'Seconds of sound.',
    'usage.estimated': 'Requests whose counts are partly a guess.',
    'usage.unanswered': 'Requests that no backend answered, or that callers left before the first token.',
    'usage.unpriced': 'Requests whose model has no price.',
    'usage.cost': 'The cost, in the currency of the prices. It is null where no price is known.',
    'usage.estimated_cost': 'The part of the cost whose counts are partly a guess.',
    acts: 'The acts, newest first.',
    'acts.id': 'The id of the act.',
    'acts.at': 'The time of the act, in Unix milliseconds.',
    'acts.actor': 'The id of a key, or `command` or `signal` for the operator of the machine.',
    'acts.user': 'The user of that key.',
    'acts.action': 'What was done.',
    'acts.object': 'The id of the thing that it was done to.',
    'acts.request': 'The id of the request.',
    'acts.outcome': 'How the act ended. The word `begun` means that its end could not be written.',
  },
  operations: {
    'POST /admin/keys': {
      about: 'Without `scopes` the key gets the least ones: chat, models, files and tools.',
      body: { name: 'ci', scopes: ['chats.completion', 'models.read'], limits: { requestsPerSecond: 5 } },
      answer: {
        status: 201,
        ...envelope,
        message: 'Key created; it is shown only here',
        data: { ...key, key: 'sk_live_…' },
      },
    },
    'GET /admin/keys': {
      about: 'No answer has a whole key.',
      query: { limit: '20' },
      answer: { ...done, data: { keys: [key], pagination } },
    },
    'GET /admin/keys/{id}': { path: { id }, answer: { ...done, data: key } },
    'PATCH /admin/keys/{id}': {
      path: { id },
      body: { limits: { requestsPerSecond: 2 } },
      answer: { ...done, message: 'Key changed', data: { ...key, limits: { requestsPerSecond: 2 } } },
    },
    'DELETE /admin/keys/{id}': {
      path: { id },
      shape: enveloped(v.object({ id: v.string() })),
      answer: { ...done, message: 'Key revoked', data: { id } },
    },
    'GET /admin/usage': {
      about: 'The gateway writes the counts once a second.',
      query: { from: '2030-01-01', to: '2030-01-31' },
      answer: { ...done, data: { usage: [used], pagination } },
    },
    'GET /admin/audit': {
      about: 'The audit has ids, names of acts and times, and no words of users.',
      query: { limit: '20' },
      answer: { ...done, data: { acts: [act], pagination } },
    },
    'POST /admin/reload': {
      about: 'Requests under way end as they began.',
      statuses: [400],
      shape: enveloped(v.null()),
      answer: { ...done, message: 'Configuration reloaded', data: null },
    },
  },
}
