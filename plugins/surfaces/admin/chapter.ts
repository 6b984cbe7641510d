import * as v from 'valibot'
import { enveloped } from '../../../core/http/reply.ts'
import { chapterOf, under } from '../shared/written-chapter.ts'
import written from './chapter.json' with { type: 'json' }

const { key, team, summed, used, act } = written.samples

const readKey = { ...key, last_used: '2030-01-31' }

const pagination = { limit: 20, offset: 0, total: 1, has_more: false }

const sums = {
  by: 'model',
  from: '2030-01-01',
  to: '2030-01-31',
  sums: [{ name: 'rehearsal', ...summed }],
  next: null,
}

const costPerMonth = 800

const changedTeam = { ...team, budgets: { costPerMonth }, limits: { ...team.limits, costPerMonth }, version: 1 }

/** The chapter of keys, usage and the audit. */
export const admin = chapterOf(
  { ...written, words: { ...written.words, ...under(['usage', 'sums'], written.sumWords) } },
  {
    'POST /admin/keys': {
      enveloped: { status: 201, message: 'Key created; it is shown only here', data: { ...key, key: 'sk_live_…' } },
    },
    'GET /admin/keys': { enveloped: { data: { keys: [readKey], pagination } } },
    'GET /admin/keys/{id}': { enveloped: { data: readKey } },
    'PATCH /admin/keys/{id}': {
      enveloped: { message: 'Key changed', data: { ...key, limits: { requestsPerSecond: 2 } } },
    },
    'DELETE /admin/keys/{id}': {
      shape: enveloped(v.object({ id: v.string() })),
      enveloped: { message: 'Key revoked', data: { id: key.id } },
    },
    'GET /admin/teams': { enveloped: { data: { teams: [team], pagination } } },
    'POST /admin/teams': { enveloped: { status: 201, message: 'Team created', data: team } },
    'GET /admin/teams/{team}': { enveloped: { data: team } },
    'PATCH /admin/teams/{team}': { enveloped: { message: 'Team changed', data: changedTeam } },
    'DELETE /admin/teams/{team}': {
      enveloped: { message: 'Team closed', data: { ...team, version: 1, closed_at: 1893456060000 } },
    },
    'GET /admin/usage': { enveloped: { data: { usage: [{ ...used, ...summed }], pagination } } },
    'GET /admin/usage/sums': { enveloped: { data: sums } },
    'GET /admin/audit': { enveloped: { data: { acts: [act], pagination } } },
    'POST /admin/reload': {
      shape: enveloped(v.null()),
      enveloped: { message: 'Configuration reloaded', data: null },
    },
  },
)
