import assert from 'node:assert/strict'
import { writeLog } from '../../adapters/production/log/log.ts'
import { BadRequest, UpstreamFailed } from '../../core/errors.ts'
import type { Log } from '../../core/ports/platform.ts'
import { proof } from './contract.ts'

/** A log, and what it has written. */
export interface Kept {
  readonly log: Log
  written(): string
}

const lines = ({ written }: Kept): Record<string, unknown>[] =>
  written()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

const canary = 'Canary7319'

/** Says the canary wherever an error can say anything. */
const telltale = (): Error => {
  const imitated = `${canary}\n    at ${canary} (/${canary}.ts:1:1)\n    at /${canary}.ts:2:2`
  const inner = Object.assign(new TypeError(imitated), { code: `not a ${canary} code`, body: canary })
  inner.name = canary
  const renamed = new Error(imitated)
  const emptied = new Error(imitated)
  // A stack is written down when it is first read.
  if (!renamed.stack || !emptied.stack) throw new Error('No stack')
  renamed.message = 'something else'
  emptied.message = ''
  const several = new AggregateError([renamed, emptied, canary, { message: canary }], canary, { cause: inner })
  return new UpstreamFailed(undefined, { cause: several, validator: { [canary]: canary } })
}

const raise = (): Error => new BadRequest('wrong', { cause: Object.assign(new RangeError('far'), { code: 'EFAR' }) })

const meek = (log: Log, error: Log['error']): Partial<Kept> => ({ log: { ...log, error } })

const keep = (): Kept => {
  let text = ''
  const log = writeLog('info', { write: (line) => void (text += line) })
  return { log, written: () => text }
}

export const log = proof({
  contract: {
    'writes one line of JSON for each event': async (fresh: () => Promise<Kept>) => {
      const kept = await fresh()
      kept.log.info('begun')
      kept.log.warn('slow', { host: 'a\nb' })
      kept.log.error('broken', {}, raise())
      assert.deepEqual(
        lines(kept).map(({ event }) => event),
        ['begun', 'slow', 'broken'],
      )
    },
    'gives the facts as they are': async (fresh) => {
      const kept = await fresh()
      const facts = { model: 'small', status: 503, stream: true, provider: null, share: 0.25 }
      kept.log.info('answered', facts)
      const [line] = lines(kept)
      for (const [name, fact] of Object.entries(facts)) assert.strictEqual(line?.[name], fact)
    },
    'tells what is said, what is odd and what is wrong apart': async (fresh) => {
      const kept = await fresh()
      kept.log.info('a')
      kept.log.warn('b')
      kept.log.error('c', {})
      assert.equal(new Set(lines(kept).map(({ level }) => level)).size, 3)
    },
    'says when': async (fresh) => {
      const kept = await fresh()
      kept.log.info('a')
      assert.ok(Math.abs(new Date(lines(kept)[0]?.['time'] as number).getTime() - Date.now()) < 5000, 'just now')
    },
    'keeps the facts beside the cause': async (fresh) => {
      const kept = await fresh()
      kept.log.error('broken', { status: 502 }, raise())
      assert.equal(lines(kept)[0]?.['status'], 502)
    },
    'says class, code and place of a cause and of what caused it': async (fresh) => {
      const kept = await fresh()
      kept.log.error('broken', {}, raise())
      const text = kept.written()
      for (const word of ['BadRequest', 'RangeError', 'EFAR']) assert.ok(text.includes(word), word)
      assert.match(text, /at raise .*log\.[tj]s:\d+:\d+/)
    },
    'writes nothing that a cause says': async (fresh) => {
      const kept = await fresh()
      kept.log.error('broken', {}, telltale())
      kept.log.error('broken', {}, canary)
      kept.log.error('broken', {}, { message: canary, cause: new Error(canary) })
      assert.equal(lines(kept).length, 3)
      assert.ok(!kept.written().includes(canary), 'no canary')
    },
    'bears causes without end': async (fresh) => {
      const kept = await fresh()
      const round: Error & { cause?: unknown } = new Error('round')
      round.cause = new Error('trip', { cause: round })
      kept.log.error('round', {}, round)
      let deep = new Error('deep')
      for (let i = 0; i < 10_000; i++) deep = new Error('deep', { cause: deep })
      kept.log.error('deep', {}, deep)
      assert.equal(lines(kept).length, 2)
      assert.ok(kept.written().length < 64 * 1024, 'a short line')
    },
  },
  right: keep,
  wrong: {
    'writes one line of JSON for each event': ({ written }) => ({ written: () => written().replaceAll('{', '\n{') }),
    'gives the facts as they are': ({ log }) => ({
      log: {
        ...log,
        info: (event, facts = {}) =>
          log.info(event, Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, `${fact}`]))),
      },
    }),
    'tells what is said, what is odd and what is wrong apart': ({ log }) => ({ log: { ...log, warn: log.info } }),
    'says when': ({ written }) => ({ written: () => written().replaceAll(/"time":\d+/g, '"time":0') }),
    'keeps the facts beside the cause': ({ log }) =>
      meek(log, (event, facts, cause) => log.error(event, cause ? {} : facts, cause)),
    'says class, code and place of a cause and of what caused it': ({ log }) =>
      meek(log, (event, facts) => log.error(event, facts)),
    'writes nothing that a cause says': ({ log }) =>
      meek(log, (event, facts, cause) =>
        log.error(event, cause instanceof Error ? { ...facts, stack: String(cause.cause) } : facts, cause),
      ),
    'bears causes without end': ({ log }) =>
      meek(log, (event, facts, cause) => {
        const all: unknown[] = []
        for (let error = cause; error instanceof Error; error = error.cause) {
          all.push(error)
          if (all.length > 20_000) throw new RangeError('No end')
        }
        log.error(event, facts, cause)
      }),
  },
})
