import { gatheredBytes } from '../../../core/gathered-bytes.ts'
import type { Ask, Door } from '../../../core/ports/platform.ts'

/** An answer, read as far as its bounds allow. */
export interface FetchedPage {
  /** The final address, as far as the door knows it. */
  readonly url: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
  /** True when the body was longer. */
  readonly cut: boolean
}

/** Headers that a browser needs. Cookies are left out. */
const telling = [
  'content-type',
  'content-security-policy',
  'referrer-policy',
  'x-content-type-options',
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-expose-headers',
]

/** Fetches an address up to the first chunk that no longer `fits`. When `check` throws, the body is not read. */
export const fetchBounded = async (
  door: Door,
  url: string,
  ask: Ask,
  fits: (bytes: number) => boolean,
  check: (status: number, headers: FetchedPage['headers']) => void = () => {},
): Promise<FetchedPage> => {
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
  const gathered = gatheredBytes()
  let cut = false
  for await (const part of answer.body) {
    if ((cut = !fits(part.length))) break
    gathered.add(part)
  }
  const { href } = new URL(answer.url ?? url)
  return { url: href, status: answer.status, headers, bytes: gathered.whole(), cut }
}
