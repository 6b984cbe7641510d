import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { memory } from '../../../adapters/memory/index.ts'
import { started } from '../../../adapters/production/enclave.ts'
import { fetch } from '../../../adapters/production/host.ts'
import { createGateway } from '../../../core/gateway.ts'
import { use } from '../../../core/plugin.ts'
import openai from '../../../plugins/providers/openai.ts'

// The gateway here, its enclave in a process of its own: the CPU that is told is that of both.
const most = 1e9
const openaiAt = { baseUrl: `${process.env['UPSTREAM']}/v1`, apiKey: 'none' }
const models = { bench: { confidential: true, upstreams: [{ provider: 'openai' }] } }
const gateway = createGateway(
  {
    ...memory(),
    fetch: use(fetch),
    upstreams: [use(openai, openaiAt)],
    enclave: use(started, { config: { providers: { openai: { use: 'openai', ...openaiAt } }, models } }),
  },
  {
    models,
    limits: {
      key: { requestsPerSecond: most, concurrentRequests: most, tokensPerMinute: most },
      organization: { requestsPerSecond: most, concurrentRequests: most, tokensPerMinute: most },
    },
  },
)
for (const key of process.env['KEYS']!.split(',')) await gateway.keys.create({}, key)
const server = gateway.server()
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))

const inside = (): string => execFileSync('pgrep', ['-P', String(process.pid), '-f', 'enclave']).toString().trim().split('\n')[0]!

process.on('message', (question) => {
  const pid = inside()
  if (question === 'cpu') {
    const { user, system } = process.cpuUsage()
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '').split(' ')
    process.send!(user + system + (Number(fields[11]) + Number(fields[12])) * 10_000)
  }
  if (question === 'memory') {
    process.send!(process.memoryUsage().rss + Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024)
  }
})
