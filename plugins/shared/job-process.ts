import { readSync, writeSync } from 'node:fs'
import { goBehindCalls } from './behind-calls.ts'
import { lengthsOf, packFrame, unpackFrame } from './frames.ts'
import { type Job, jobOutcome } from './job-outcome.ts'

/** The job arrives on the first descriptor and the result leaves on the second. A parser's prints go elsewhere. */
const [jobs, results] = [0, 3]

/** Blocks until `length` bytes have arrived. Ends the process when the pipe closes before. */
const read = (length: number): Uint8Array => {
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length;) {
    const count = readSync(jobs, bytes, at, length - at, null)
    if (count === 0) process.exit(0)
    at += count
  }
  return bytes
}

const take = (): Job => {
  const count = Buffer.from(read(4))
  const head = Buffer.concat([count, read(4 * count.readUInt32LE())])
  const lengths = lengthsOf(head, { values: Infinity, memory: Infinity }) ?? []
  return unpackFrame(lengths.map(read)) as Job
}

const give = (piece: Uint8Array): void => {
  for (let at = 0; at < piece.length;) at += writeSync(results, piece, at)
}

goBehindCalls()
// This byte tells the parent that the process has started.
give(Buffer.of(1))
const given = take()
for (const piece of packFrame(await jobOutcome(given))) give(piece)
process.exit(0)
