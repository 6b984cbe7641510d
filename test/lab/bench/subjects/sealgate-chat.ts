import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clock } from '../../../../adapters/memory/platform.ts'
import { memory } from '../../../../adapters/memory/index.ts'
import { fetch } from '../../../../adapters/production/platform.ts'
import usageJournal from '../../../../adapters/production/usage-journal.ts'
import { createGateway } from '../../../../core/gateway.ts'
import { use } from '../../../../core/plugin.ts'
import anthropic from '../../../../plugins/providers/anthropic.ts'
import openai from '../../../../plugins/providers/openai.ts'
import sqlite from '../../../../plugins/storage/sqlite.ts'
import { Teams } from '../../../../plugins/surfaces/admin/teams.ts'
import { answering } from './answering.ts'

const most = 1e9
/** Where the journal of usage is kept; absent, none is. */
const folder = process.env['JOURNAL']
/** Keys and teams that it has beside the one key, in a store on the disk; none in memory. */
const [keys, teams] = [Number(process.env['KEYS'] ?? 0), Number(process.env['TEAMS'] ?? 0)]
const file = keys === 0 ? null : join(mkdtempSync(join(tmpdir(), 'sealgate-bench-')), 'rows.db')
const gateway = createGateway(
  {
    ...memory(),
    clock: use(clock),
    fetch: use(fetch),
    ...(file !== null && { metadataStore: use(sqlite, { file }) }),
    ...(folder !== undefined && { usageJournal: use(usageJournal, { folder }) }),
    upstreams: [
      use(openai, { baseUrl: `${process.env['UPSTREAM']}/v1`, apiKey: 'none' }),
      use(anthropic, { baseUrl: process.env['UPSTREAM']!, apiKey: 'none' }),
    ],
  },
  {
    models: {
      bench: { upstreams: [{ provider: 'openai' }] },
      messages: { upstreams: [{ provider: 'anthropic', model: 'bench' }] },
    },
    limits: {
      key: { requestsPerSecond: most, concurrentRequests: most, tokensPerMinute: most },
      organization: { requestsPerSecond: most, concurrentRequests: most, tokensPerMinute: most },
    },
  },
)
await gateway.keys.create({}, process.env['KEY'])
const { kept } = gateway.supply({ kept: Teams })
for (let at = 0; at < teams; at++) await kept.create('default', `team-${at}`, { costPerMonth: 100 + at })
for (let at = 0; at < keys; at++)
  await gateway.keys.create({
    name: `key ${at}`,
    scopes: ['models.read'],
    ...(teams > 0 && { team: `team-${at % teams}` }),
  })
answering(gateway.server())
