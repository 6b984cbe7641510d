import type { Asked } from '../fakes/recorded.ts'

type Json = Record<string, any>

/** A request as a program sends it. */
export interface RecordedRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Json
}

/** What is the machine's and the run's own, and what stands in its place. */
export interface Traces {
  readonly base: string
  readonly key: string
  readonly home: string
}

/** Headers by which the gateway tells clients and their wishes apart. */
const kept =
  /^(?:user-agent|originator|anthropic-(?:beta|version)|x-app|x-stainless-(?:lang|retry-count)|x-goog-api-client)$/

/** Members whose texts belong to the program's makers and to the run. Their beginning shows what they are. */
const texts = new Set(['text', 'content', 'instructions', 'description', 'definition', 'system', 'output', 'input'])
const longest = 80
const shown = 40

/** The requests of one run, without anything of this machine. */
export const cleaned = (requests: readonly Asked[], traces: Traces): readonly RecordedRequest[] => {
  const ids = new Map<string, string>()
  /** Equal ids stay equal. */
  const renumbered = (id: string): string => {
    const known = ids.get(id) ?? String(ids.size + 1).padStart(id.length, '0')
    ids.set(id, known)
    return id.replace(/[0-9a-f]/gi, '0').slice(0, -4) + known.slice(-4)
  }
  const plain = (text: string): string =>
    text
      .replaceAll(traces.home, '/home/agent')
      .replaceAll(traces.base, 'http://127.0.0.1:8787')
      .replaceAll(traces.key, 'KEY')
      .replace(/\/(?:tmp|root|work|usr|var)\b[^\s"'`)\\]*/g, '/place')
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{16,64}\b/gi, renumbered)
      .replace(/\b(?:ses|msg|prt|user)_[0-9A-Za-z]{16,}/g, (id) => id.slice(0, 4) + '0'.repeat(8))
      .replace(/\b1[5-9]\d{11}\b/g, '1700000000000')
      .replace(/\b20[2-9]\d-[01]\d-[0-3]\d(T[\d:.]+Z?)?/g, '2026-01-01')
  const value = (item: unknown, name: string): unknown => {
    if (typeof item === 'string') {
      const text = plain(item)
      return texts.has(name) && text.length > longest ? `${text.slice(0, shown)} … (${text.length})` : text
    }
    if (Array.isArray(item)) return item.map((one) => value(one, name))
    if (typeof item !== 'object' || item === null) return item
    // A schema and the arguments of a call have members of any name.
    return Object.fromEntries(Object.entries(item).map(([member, one]) => [plain(member), value(one, member)]))
  }
  return requests.flatMap(({ method, path, headers, body }) => {
    if (method !== 'POST' || body.length === 0) return []
    const told = Object.entries(headers).filter(([name]) => kept.test(name))
    return [
      {
        path: plain(path),
        headers: Object.fromEntries(
          told.map(([name, value]) => [name, plain(String(value)).replace(/\([^)]*\)/g, '(-)')]),
        ),
        body: value(JSON.parse(body.toString()), '') as Json,
      },
    ]
  })
}
