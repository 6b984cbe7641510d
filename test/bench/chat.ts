import { portkey } from './portkey.ts'
import { type Load, type Measured, type Subject, compare, measure, start } from './measure.ts'

const key = `sk_live_${'2'.repeat(44)}`

/** The third turn of a conversation: some hundred bytes a message, answered with 1.5 kB. */
const ask = (stream: boolean) =>
  JSON.stringify({
    model: 'bench',
    stream,
    temperature: 0.7,
    max_tokens: 512,
    messages: [
      { role: 'system', content: 'You say words and nothing else. '.repeat(10) },
      ...Array.from({ length: 2 }, () => [
        { role: 'user', content: 'Say "words".\n'.repeat(20) },
        { role: 'assistant', content: 'word '.repeat(100) },
      ]).flat(),
      { role: 'user', content: 'Say more words, please.' },
    ],
  })

/** Standard chat beside a bare proxy, a Koa proxy over node-fetch and Portkey's gateway, all before the same backend. */
export const chat = async (): Promise<readonly string[]> => {
  const upstream = await start('upstream')
  const env = { UPSTREAM: upstream.base, KEY: key }
  const subjects: Record<string, Subject> = {
    bare: await start('proxy-bare', env),
    koa: await start('proxy-koa', env),
    sealgate: await start('sealgate-chat', env),
  }
  const rival = await portkey(upstream.base)
  if (rival !== null) subjects['portkey'] = rival.subject
  const paths: Record<string, string> = { sealgate: '/std/chat/completions' }
  const load =
    (stream: boolean, requests: number, concurrency: number) =>
    (name: string): Load => ({
      path: paths[name] ?? '/v1/chat/completions',
      body: ask(stream),
      headers: { authorization: `Bearer ${key}`, ...(name === 'portkey' && rival!.headers) },
      requests,
      concurrency,
      ...(stream && { mark: 'word0' }),
    })
  try {
    const lines: string[] = []
    const whole = await compare(subjects, load(false, 1500, 8), 4)
    lines.push(...table('whole answers', whole))
    const streams = await compare(subjects, load(true, 240, 20), 3)
    lines.push(...table('streams of 100 events', streams))
    const slow = await compare(
      { bare: subjects['bare']!, sealgate: subjects['sealgate']!, ...(rival && { portkey: rival.subject }) },
      load(true, 30, 1),
      2,
    )
    lines.push(`first token added at the median: ${added(slow, 'first')} ms (under 1)`)
    const clean = await measure(subjects['sealgate']!, { ...load(true, 500, 500)('sealgate') })
    lines.push(`500 streams at once: ${500 - clean.failed} clean`)
    await measure(subjects['sealgate']!, load(false, 2000, 8)('sealgate'))
    const before = await subjects['sealgate']!.memory()
    await measure(subjects['sealgate']!, load(false, 10_000, 8)('sealgate'))
    const after = await subjects['sealgate']!.memory()
    lines.push(`memory after 10,000 more requests: ${((after - before) / 1048576).toFixed(1)} MB more`)
    return lines
  } finally {
    await Promise.all(Object.values(subjects).map((it) => it.stop()))
    await upstream.stop()
  }
}

const table = (title: string, seen: Record<string, Measured>): readonly string[] =>
  Object.entries(seen).map(
    ([name, it]) =>
      `${title}, ${name}: ${(it.cpu / seen['bare']!.cpu).toFixed(2)} times the CPU of the bare proxy (${it.cpu.toFixed(0)} µs), ` +
      `p50 ${it.p50.toFixed(1)} ms, p99 ${it.p99.toFixed(1)} ms, failed ${it.failed}`,
  )

const added = (seen: Record<string, Measured>, field: 'first' | 'p50'): string =>
  Object.entries(seen)
    .filter(([name]) => name !== 'bare')
    .map(([name, it]) => `${name} ${(it[field] - seen['bare']![field]).toFixed(2)}`)
    .join(', ')
