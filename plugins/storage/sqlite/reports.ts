import { Worker } from 'node:worker_threads'
import { Overdue, Unavailable } from '../../../core/errors.ts'
import type { Kind, Query, Row, Sum, SumGroup } from '../../../core/ports/metadata-store.ts'
import type { Report, Reported } from './report-thread.ts'
import type { Page } from './reader.ts'
import { searchOf } from './search.ts'
import { from, orderBy } from './statement.ts'

/** Reports reject with Overdue after their time, and with Unavailable when the thread fails or too many wait. */
export interface ReportConnection {
  list<T>(kind: Kind<T>, query: Query<T>): Promise<Page<T>>
  sums(question: Report): Promise<readonly Sum[]>
  groups(question: Report): Promise<readonly SumGroup[]>
  close(): Promise<void>
}

/** In ms: a report that takes longer, its turn in the queue included, is given up. */
const mostMs = 10_000
/** In ms: how much later than the thread the caller gives up. */
const graceMs = 500
/** Reports that wait for their turn; further ones are refused. */
const mostWaiting = 200

interface Job {
  readonly question: Report
  readonly until: number
  settle(reported: Reported): void
}

const ending = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
const source = new URL(`./report-thread${ending}`, import.meta.url)

/** The answer to a report whose thread is gone. */
const lost: Reported = { kind: 'failed', code: 'thread' }

interface ReportThread {
  reported(question: Report): Promise<Reported>
  close(): Promise<void>
}

/** Reports one after the other. */
const reportThread = (file: string, patience: number): ReportThread => {
  const waiting: Job[] = []
  let thread: Worker | null = null
  let running: Job | null = null
  let isClosed = false

  const started = (): Worker => {
    const fresh = new Worker(source, { execArgv: [], env: {}, workerData: { file, patience } })
    const ended = (reported: Reported) => {
      running?.settle(reported)
      running = null
      next()
    }
    const gone = () => {
      if (thread !== fresh) return
      thread = null
      ended(lost)
    }
    fresh.on('message', ended).on('error', gone).on('exit', gone)
    return fresh
  }

  const next = (): void => {
    if (running !== null || isClosed) return
    const job = waiting.shift()
    // A thread without work keeps no process alive.
    if (job === undefined) return thread?.unref()
    const ms = job.until - performance.now()
    if (ms <= 0) {
      job.settle({ kind: 'overdue' })
      return next()
    }
    running = job
    thread ??= started()
    thread.ref()
    thread.postMessage({ question: job.question, ms })
  }

  return {
    reported: (question) =>
      new Promise((resolve, reject) => {
        if (isClosed || waiting.length >= mostWaiting) return reject(new Unavailable())
        // The thread looks at its clock between rows; the search for the first row is out of its hands.
        const late = setTimeout(() => resolve({ kind: 'overdue' }), mostMs + graceMs).unref()
        const settle = (answer: Reported) => {
          clearTimeout(late)
          resolve(answer)
        }
        waiting.push({ question, until: performance.now() + mostMs, settle })
        next()
      }),
    async close() {
      isClosed = true
      for (const job of waiting.splice(0)) job.settle(lost)
      await thread?.terminate()
    },
  }
}

const fault = (answer: Reported): Error =>
  answer.kind === 'overdue'
    ? new Overdue()
    : new Unavailable(undefined, {
        cause: new Error('A report failed', { cause: answer.kind === 'failed' && answer.code }),
      })

/**
 * Reports on a thread of its own: the main thread reads in steps of microseconds. `patience` in ms is the wait for other
 * processes.
 */
export const openReports = (file: string, patience: number): ReportConnection => {
  const { reported, close } = reportThread(file, patience)
  return {
    async list<T>(kind: Kind<T>, query: Query<T>) {
      const { limit = -1, offset = 0, countTo = -1 } = query
      const search = searchOf(query)
      const question = { work: 'list', sorting: orderBy(query), limit, offset, countTo, search } as const
      const found = await reported({ ...question, ...from(kind, query) })
      if (found.kind !== 'rows') throw fault(found)
      return { rows: found.rows as readonly Row<T>[], total: found.total }
    },
    async sums(question) {
      const found = await reported(question)
      if (found.kind !== 'sums') throw fault(found)
      return found.sums
    },
    async groups(question) {
      const found = await reported(question)
      if (found.kind !== 'groups') throw fault(found)
      return found.groups
    },
    close,
  }
}
