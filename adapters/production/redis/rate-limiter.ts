import { createHash, randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { plugin } from '../../../core/plugin.ts'
import { type Alarm, Clock, Log } from '../../../core/ports/platform.ts'
import { RateLimiter, type Charge, type Concern } from '../../../core/ports/rate-limiter.ts'
import { timer } from '../../../core/settings.ts'
import { redisAddress } from '../../../plugins/storage/shared/redis-address.ts'
import { connectRedis, type Client } from './redis.ts'

interface Script {
  readonly text: string
  readonly sha: string
}

/** Redis knows a script by its SHA-1, so that a call sends 40 characters and not the text. */
const script = (text: string): Script => ({ text, sha: createHash('sha1').update(text).digest('hex') })

/** Sends the text only where Redis lacks the script. */
const run = async (client: Client, { text, sha }: Script, keys: string[], args: string[]): Promise<unknown> => {
  const keysAndArguments = { keys, arguments: args }
  try {
    return await client.evalSha(sha, keysAndArguments)
  } catch (fault) {
    // A restarted Redis has lost its scripts.
    if (fault instanceof Error && fault.message.startsWith('NOSCRIPT')) return client.eval(text, keysAndArguments)
    throw fault
  }
}

/** In ms by Redis's own clock, so that the clocks of processes do not matter. */
const now = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000`

/** A place is a member of its name's sorted set, with its end as the score. The set expires with its last place. */
const keep = `
redis.call('ZADD', KEYS[1], string.format('%.3f', now + ARGV[2]), ARGV[1])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1`

const take = script(`${now}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.3f', now))
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end${keep}`)

const renew = script(`${now}
local over = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not over or tonumber(over) <= now then return 0 end${keep}`)

/** In ms: a bucket with an end is kept this long after it, for late settlements and for clocks that differ. */
const grace = 3_600_000

/**
 * A bucket is "<left> <when>" and is removed when it is full. A second key holds "<most> <until>", since processes of
 * 1.0.0 read only the bucket. ARGV: spend or settle, the caller's time, then for each bucket most, per, amount, until
 * (0 for none) and soft. The caller names a window by its own clock, so that clock alone measures the rest of a window.
 */
const spend = script(`${now}
local n = #KEYS / 2
local here = tonumber(ARGV[2])
local level, ends, left, refused, wait = {}, {}, {}, 0, 0
for i = 1, n do
  local key, at = KEYS[i], 5 * i - 2
  local most, per, amount, till = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  if not level[key] then
    local was, when = string.match(redis.call('GET', key) or '', '^(%S+) (%S+)$')
    if was then
      local of, ended = string.match(redis.call('GET', KEYS[n + i]) or '', '^(%S+) ?(%S*)$')
      of, ends[key] = tonumber(of or most), tonumber(ended)
      -- The name of an ended window comes again where the clock was set back.
      if till > here and (ends[key] or math.huge) <= here then was = of end
      local more = till > 0 and 0 or math.max(0, now - when) * of / per
      level[key] = math.min(of, was + more) + most - of
    else
      level[key] = most
    end
  end
  level[key] = math.min(most, level[key] - amount)
  left[i] = string.format('%.17g', level[key])
  if ARGV[1] == 'spend' and level[key] < -1e-9 and ARGV[at + 4] ~= '1' then
    local fits = till > 0 and math.max(1, math.ceil(till - here)) or math.ceil(-level[key] * per / most)
    if amount > most then fits = math.huge end
    if fits > wait then refused, wait = i, fits end
  end
end
if refused > 0 then return {'', refused, string.format('%.17g', wait)} end
for i = 1, n do
  local key, at = KEYS[i], 5 * i - 2
  local most, per, till = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 3])
  if level[key] >= most then
    redis.call('DEL', key, KEYS[n + i])
  else
    local whole = till > 0 and math.max(1, till - here) + ${grace} or (most - level[key]) * per / most
    local px = string.format('%.0f', math.ceil(whole))
    redis.call('SET', key, string.format('%.17g %.17g', level[key], now), 'PX', px)
    local ended = till > here and till or ends[key] or till
    redis.call('SET', KEYS[n + i], string.format('%.17g %.17g', most, ended), 'PX', px)
  end
end
return left`)

/** In ms: the pause before corrections from a time without Redis are sent. */
const retryMs = 1_000

const mode = (byDefault: 'open' | 'closed') => v.optional(v.picklist(['open', 'closed']), byDefault)

/** Exact across all processes on one Redis: each step is one script. Without Redis, each concern follows `whenDown`. */
export default plugin({
  port: RateLimiter,
  name: 'redis',
  settings: v.strictObject({
    url: redisAddress,
    /** The prefix of every key. */
    prefix: v.optional(v.pipe(v.string(), v.regex(/^[\w:.-]+$/, 'letters, digits and : . - _')), 'sealgate'),
    /** `open` passes requests and counts nothing; `closed` refuses with 503. */
    whenDown: v.optional(
      v.strictObject({ places: mode('closed'), tokens: mode('closed'), requests: mode('open'), money: mode('closed') }),
      {},
    ),
    /** In ms: after this time without an answer, Redis counts as down. */
    patience: v.optional(timer(), 40),
  }),
  needs: { clock: Clock, log: Log },
  create: ({ clock, log }, { url, prefix, whenDown, patience }): RateLimiter => {
    const redis = connectRedis({ url, patience, prefix, use: 'limits', log }, (client) => client)

    /** The result while Redis is down: `free` when all concerns are open, otherwise the error. */
    const pass = <T>(concerns: readonly Concern[], fault: unknown, free: T): T => {
      if (concerns.some((concern) => whenDown[concern] === 'closed')) throw fault
      return free
    }

    const apply = (client: Client, step: 'spend' | 'settle', charges: readonly Charge[], amounts: readonly number[]) =>
      run(
        client,
        spend,
        // All keys share one tag: a script needs its keys in one slot, and any allowances may meet in one step.
        ['', 'most:'].flatMap((of) => charges.map(({ allowance }) => `{${prefix}:spend}:${of}${allowance.name}`)),
        [
          step,
          String(clock.now()),
          ...charges.flatMap(({ allowance: { most, per, until = 0, soft = false } }, i) =>
            [most, per, amounts[i], until, soft ? 1 : 0].map(String),
          ),
        ],
      ) as Promise<readonly (string | number)[]>

    /** By the names of their windows, which do not refill: corrections that no connection has carried yet. */
    const owed = new Map<string, Charge>()
    const owe = (charges: readonly Charge[], missing: readonly number[]): void => {
      for (const [i, { allowance }] of charges.entries()) {
        const { name, until = 0 } = allowance
        if (until > clock.now()) owed.set(name, { allowance, amount: (owed.get(name)?.amount ?? 0) + missing[i]! })
      }
      if (owed.size > 0) paying ??= clock.alarm(retryMs, pay)
    }
    let paying: Alarm | null = null
    const pay = (): void => {
      paying = null
      const charges = [...owed.values()]
      owed.clear()
      const missing = charges.map(({ amount }) => amount)
      void correct(charges, missing)
    }

    /** The work is done, and an error would help no caller. A correction that was sent and not answered is not sent again. */
    const correct = async (charges: readonly Charge[], missing: readonly number[]): Promise<number[] | void> => {
      if (!redis.stands()) return owe(charges, missing)
      const left = await redis.ask((client) => apply(client, 'settle', charges, missing)).catch(() => null)
      return left?.map(Number)
    }

    return {
      async take(name, most, ttl, concern = 'places') {
        const key = `${prefix}:places:{${name}}`
        const id = randomUUID()
        const lasting = `${Math.max(1, Math.ceil(ttl))}`
        const release = (client: Client) => client.zRem(key, id)
        try {
          const taken = await redis.ask(
            (client) => run(client, take, [key], [id, lasting, `${most}`]),
            async (late, client) => late === 1 && release(client),
          )
          if (taken !== 1) return null
        } catch (fault) {
          return pass([concern], fault, { renew: async () => true, release: async () => {} })
        }
        return {
          renew: () =>
            redis
              .ask((client) => run(client, renew, [key], [id, lasting]))
              .then(
                (kept) => kept === 1,
                (fault) => pass([concern], fault, true),
              ),
          // A place that cannot be released expires by itself.
          release: () =>
            redis.ask(release).then(
              () => {},
              () => {},
            ),
        }
      },

      async spend(charges) {
        const amounts = charges.map(({ amount }) => amount)
        const concerns = charges.map(({ allowance }) => allowance.concern)
        const closed = concerns.some((concern) => whenDown[concern] === 'closed')
        let answer
        try {
          answer = await redis.ask(
            (client) => apply(client, 'spend', charges, amounts),
            // A passed charge has been used; a refused charge must cost nothing.
            async (late, client) => {
              if (closed && late[0] !== '')
                await apply(
                  client,
                  'settle',
                  charges,
                  amounts.map((amount) => -amount),
                )
            },
          )
        } catch (fault) {
          return pass(concerns, fault, { ok: true, left: charges.map(() => null), settle: async () => {} })
        }
        if (answer[0] === '')
          return { ok: false, refused: Number(answer[1]) - 1, wait: Number(answer[2] === 'inf' ? Infinity : answer[2]) }
        let settled = false
        return {
          ok: true,
          left: answer.map(Number),
          async settle(actual) {
            if (settled) return
            settled = true
            const missing = amounts.map((amount, i) => (actual[i] ?? amount) - amount)
            return correct(charges, missing)
          },
        }
      },

      dispose() {
        paying?.off()
        redis.close()
      },
    }
  },
})
