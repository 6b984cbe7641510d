import { createHmac, hash } from 'node:crypto'
import { withDeadline } from '../../shared/stop-with.ts'
import { BadRequest } from '../../../core/errors.ts'
import { lazy, plugin } from '../../../core/plugin.ts'
import { Lifecycle } from '../../../core/lifecycle.ts'
import type { Webhook } from '../../../core/limit-settings.ts'
import { Observer, type ReachedShare } from '../../../core/ports/observer.ts'
import { Clock, type Door, Fetch, Log, Random } from '../../../core/ports/platform.ts'

/** Ms between tries; the last one fails for good. */
const pauses = [5_000, 30_000, 120_000, 600_000, 3_600_000]
/** Ms for an answer. */
const patienceMs = 10_000
/** Messages that are not delivered yet; further ones are lost. */
const mostWaiting = 100
/** Tries at once, so that a slow receiver holds few sockets. */
const mostAtOnce = 4

interface Message {
  readonly id: string
  readonly body: string
}

/** The same share of the same window has the same id in every message of every process. */
const messageOf = ({ of, whose, period, name, until, percent, at }: ReachedShare): Message => {
  const ends = until === undefined ? null : new Date(until).toISOString()
  const timestamp = new Date(at).toISOString()
  return {
    id: `budget_${hash('sha256', `${name}\n${percent}\n${until ?? at}`, 'hex').slice(0, 32)}`,
    body: JSON.stringify({ type: 'budget.share', timestamp, data: { of, whose, period, percent, ends } }),
  }
}

/** The headers of Standard Webhooks. The time is that of the try, so that a receiver can refuse old ones. */
const headersOf = ({ id, body }: Message, { secret }: Webhook, now: number): Readonly<Record<string, string>> => {
  const seconds = String(Math.floor(now / 1000))
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': `v1,${signature}`,
  }
}

interface Outcome {
  readonly next: 'done' | 'again' | 'never'
  /** Null where there was no answer. */
  readonly status: number | null
  readonly cause?: unknown
}

const gone = 410

/** One try. Only the address itself is asked: a redirect would give the message to another host. */
const sending =
  (outside: Door, clock: Clock, closing: AbortSignal) =>
  async (message: Message, receiver: Webhook): Promise<Outcome> => {
    const headers = headersOf(message, receiver, clock.now())
    const { signal, off } = withDeadline(clock, patienceMs, closing, () => new Error('The receiver took too long'))
    try {
      const answer = await outside(receiver.url, {
        method: 'POST',
        headers,
        body: message.body,
        stays: true,
        signal,
      })
      answer.discard()
      const { status } = answer
      if (status >= 200 && status < 300) return { next: 'done', status }
      return { next: status === gone ? 'never' : 'again', status }
    } catch (cause) {
      return { next: cause instanceof BadRequest ? 'never' : 'again', status: null, cause }
    } finally {
      off()
    }
  }

/**
 * Each message has six tries within about an hour and a half. A closing gateway ends them, and its log has
 * the id.
 */
export const budgetWebhook = plugin({
  port: Observer,
  name: 'budget-webhook',
  needs: { fetch: Fetch, clock: Clock, random: Random, log: Log, lifecycle: Lifecycle },
  create: ({ fetch, clock, random, log, lifecycle: { closing } }): Observer => {
    const send = sending(fetch.outside, clock, closing)
    const turns = lazy(async () => (await import('p-limit')).default(mostAtOnce))
    let waiting = 0

    const deliver = async (message: Message, receiver: Webhook): Promise<void> => {
      const inTurn = await turns()
      for (let tries = 1; ; tries++) {
        const { next, status, cause } = await inTurn(() => send(message, receiver))
        if (next === 'done') return log.info('webhook.delivered', { id: message.id, tries })
        const pause = next === 'never' || closing.aborted ? undefined : pauses[tries - 1]
        log.error('webhook.failed', { id: message.id, tries, status, again: pause !== undefined }, cause)
        if (pause === undefined) return
        // Messages that failed together come back apart.
        await clock.sleep(pause * (1 + random.fraction() / 4), closing)
      }
    }

    return {
      reached(
        share,
        {
          limits: {
            budgets: { webhook: receiver },
          },
        },
      ) {
        if (receiver === undefined) return
        const message = messageOf(share)
        if (waiting === mostWaiting) return log.error('webhook.lost', { id: message.id })
        waiting++
        deliver(message, receiver)
          // Only the end of the gateway ends the wait for another try.
          .catch((cause: unknown) => log.error('webhook.lost', { id: message.id }, cause))
          .finally(() => waiting--)
      },
    }
  },
})
