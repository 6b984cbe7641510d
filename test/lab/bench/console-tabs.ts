import { constants, setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

/** A process with so many open consoles: each listens to Live, asks as often as Home and Models do, and lists teams and keys. */
const { BASE: base = '', KEY: key = '', TABS: tabs = '0' } = process.env
const count = Number(tabs)
// Consoles run on the machines of their readers: what they do there takes no time from the gateway.
setPriority(constants.priority.PRIORITY_LOW)
const headers = { authorization: `Bearer ${key}` }

/** Ms between two readings of a page, with what the page reads. */
const pages: readonly (readonly [ms: number, paths: readonly string[]])[] = [
  [
    10_000,
    [
      ...['/health/ready', '/metrics', '/admin/traffic?span=hour&by=model', '/admin/usage?limit=100', '/v1/models'],
      ...['/admin/keys?limit=1', '/admin/usage?limit=1'],
    ],
  ],
  [5_000, ['/admin/models?limit=100', '/admin/backends']],
  [
    60_000,
    [
      '/admin/teams?limit=100',
      '/admin/usage/sums?by=team',
      '/admin/keys?limit=100',
      '/admin/keys?limit=100&search=key%2077',
      '/admin/usage/sums?by=key&limit=1000',
      '/admin/keys?limit=100&team=team-7',
    ],
  ],
]

const seen = { listening: 0, batches: 0, requests: 0, readings: 0, refused: 0 }

const listen = async (): Promise<void> => {
  for (;;) {
    const answer = await fetch(`${base}/admin/live?organization=*`, { headers })
    if (answer.status !== 200 || answer.body === null) {
      seen.refused++
      await sleep(5_000)
      continue
    }
    seen.listening++
    const decoder = new TextDecoder()
    for await (const part of answer.body) {
      const text = decoder.decode(part, { stream: true })
      seen.batches += text.split('event: requests').length - 1
      seen.requests += text.split('{"id":').length - 1
    }
    seen.listening--
  }
}

const poll = async (ms: number, paths: readonly string[], first: number): Promise<void> => {
  await sleep(first)
  for (;;) {
    for (const path of paths) {
      const answer = await fetch(base + path, { headers })
      await answer.arrayBuffer()
      if (answer.status === 200) seen.readings++
      else seen.refused++
    }
    await sleep(ms)
  }
}

const failed = (error: unknown): void => {
  console.error(error)
  process.exit(1)
}

for (let tab = 0; tab < count; tab++) {
  listen().catch(failed)
  for (const [ms, paths] of pages) poll(ms, paths, (tab * ms) / count).catch(failed)
}
process.on('message', () => process.send?.({ ...seen }))
process.once('disconnect', () => process.exit(0))
