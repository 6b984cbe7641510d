import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { memory } from '../../../../adapters/memory/index.ts'
import { startedEnclave } from '../../../../adapters/production/enclave/enclave.ts'
import { fetch } from '../../../../adapters/production/platform.ts'
import { createGateway } from '../../../../core/gateway.ts'
import { use } from '../../../../core/plugin.ts'
import openai from '../../../../plugins/providers/openai.ts'

// The gateway here, its enclave in a process of its own: the CPU that is told is that of both.
const most = 1e9
const openaiAt = { baseUrl: `${process.env['UPSTREAM']}/v1`, apiKey: 'none' }
const models = {
  bench: { confidential: true, upstreams: [{ provider: 'openai' }] },
  decides: { decide: true, confidential: true, upstreams: [{ provider: 'openai' }] },
  heard: { type: 'AUDIO_TRANSCRIPTION', confidential: true, upstreams: [{ provider: 'openai' }] },
} as const
const gateway = createGateway(
  {
    ...memory(),
    fetch: use(fetch),
    upstreams: [use(openai, openaiAt)],
    enclave: use(startedEnclave, {
      config: { providers: { openai: { use: 'openai', ...openaiAt } }, models: structuredClone(models) },
    }),
  },
  {
    models: structuredClone(models) as never,
    limits: {
      key: { requestsPerSecond: most, concurrentRequests: most, tokensPerMinute: most },
      organization: { requestsPerSecond: most, concurrentRequests: most, tokensPerMinute: most },
    },
  },
)
for (const key of process.env['KEYS']!.split(',')) await gateway.keys.create({}, key)
const server = gateway.server()
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))

const inside = (): string =>
  execFileSync('pgrep', ['-P', String(process.pid), '-f', 'enclave'])
    .toString()
    .trim()
    .split('\n')[0]!

const delay = monitorEventLoopDelay({ resolution: 5 })
delay.enable()

const kilobytes = (pid: number | string, field: string): number =>
  Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1])

/** Where the memory of both stood when it was last asked to be watched. */
let idle: readonly number[] = []

process.on('message', (question) => {
  const pid = inside()
  const both = [String(process.pid), pid]
  if (question === 'watch') {
    globalThis.gc?.()
    for (const each of both) writeFileSync(`/proc/${each}/clear_refs`, '5')
    idle = both.map((each) => kilobytes(each, 'VmRSS'))
    delay.reset()
    process.send!(0)
  }
  if (question === 'delay') process.send!(delay.max / 1e6)
  if (question === 'peak gateway') process.send!((kilobytes(both[0]!, 'VmHWM') - idle[0]!) * 1024)
  if (question === 'peak enclave') process.send!((kilobytes(both[1]!, 'VmHWM') - idle[1]!) * 1024)
  if (question === 'cpu') {
    const { user, system } = process.cpuUsage()
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    process.send!(user + system + (Number(fields[11]) + Number(fields[12])) * 10_000)
  }
  if (question === 'memory') {
    process.send!((kilobytes(both[0]!, 'VmRSS') + kilobytes(both[1]!, 'VmRSS')) * 1024)
  }
})
