import * as v from 'valibot'
import { lazy, plugin } from '../../core/plugin.ts'
import { Fetch, Log } from '../../core/ports/platform.ts'
import { timer } from '../../core/settings.ts'
import { isPermit } from './network/egress.ts'
import { levels, standardOutput, writeLog } from './log/log.ts'
import { isTerminal } from './screen/style.ts'
import { openUpstream } from './network/fetch-upstream.ts'

export { clock, random } from '../memory/platform.ts'

/** Loaded with the first tool that fetches an address, so that a start does not wait for the library. */
const outsides = lazy(() => import('./network/fetch-outside.ts'))

const count = v.pipe(v.number(), v.integer(), v.minValue(1))

/** Checked at the start: a mistyped range would otherwise show itself only by calls that fail. */
const permit = v.pipe(v.string(), v.check(isPermit, 'a host name, an address or a CIDR range'))

/** Two doors: `upstream` reaches configured backends, and `outside` public addresses that a caller names. */
export const fetch = plugin({
  port: Fetch,
  name: 'fetch',
  settings: v.strictObject({
    outside: v.optional(
      v.strictObject({
        ports: v.optional(v.array(v.pipe(count, v.maxValue(65_535))), [80, 443]),
        /** Of an answer's body, decompressed. */
        bytes: v.optional(count, 10 * 1024 * 1024),
        /** Ms from the call to the end of the body. */
        time: v.optional(timer(), 15_000),
        /** Hosts and ranges that may be reached although they are private. */
        allow: v.optional(v.array(permit), []),
      }),
      {},
    ),
  }),
  create: (_, { outside }): Fetch => {
    const upstream = openUpstream()
    const door = lazy(async () => (await outsides()).openOutside(outside))
    return {
      upstream: upstream.door,
      push: upstream.push,
      outside: async (url, ask) => (await door())(url, ask),
      dispose: upstream.close,
    }
  },
})

/** Words go to a terminal, and JSON to everything else. */
export const log = plugin({
  port: Log,
  name: 'log',
  settings: v.strictObject({ level: v.optional(v.picklist(levels), 'info') }),
  create: (_, { level }): Log => writeLog(level, standardOutput(), isTerminal()),
})
