import type { Ask, Door } from '../../../core/ports/platform.ts'

export interface Received {
  /** Where it came from in the end, as far as the door tells. */
  readonly url: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
  /** Whether there was more. */
  readonly cut: boolean
}

/** What a browser wants to know of an answer. Cookies are not among it. */
const telling = [
  'content-type',
  'content-security-policy',
  'referrer-policy',
  'x-content-type-options',
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-expose-headers',
]

/** Fetches an address, up to the part that no longer `fits`. A fault of `check` ends it before the body is read. */
export const receive = async (
  door: Door,
  url: string,
  ask: Ask,
  fits: (bytes: number) => boolean,
  check: (status: number, headers: Received['headers']) => void = () => {},
): Promise<Received> => {
  const answer = await door(url, ask)
  const headers = Object.fromEntries(
    telling.map((name) => [name, answer.header(name)]).filter(([, value]) => value !== null),
  ) as Record<string, string>
  try {
    check(answer.status, headers)
  } catch (fault) {
    answer.discard()
    throw fault
  }
  const parts: Uint8Array[] = []
  let cut = false
  for await (const part of answer.body) {
    if ((cut = !fits(part.length))) break
    parts.push(part)
  }
  const { href } = new URL(answer.url ?? url)
  return { url: href, status: answer.status, headers, bytes: Buffer.concat(parts), cut }
}
