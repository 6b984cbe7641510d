import { spawn } from 'node:child_process'
import { isAbsolute } from 'node:path'
import * as v from 'valibot'
import { plugin } from '../../core/plugin.ts'
import { Prover } from '../../core/ports/attester.ts'
import { inTurn } from './shared/in-turn.ts'

/** In bytes: a program that writes more is ended. */
const mostBytes = 64 * 1024

/** Where each type carries the raw evidence. */
const fields = { 'sev-snp': 'report', tdx: 'quote', nitro: 'document' } as const

/** What a program writes to its standard output, when it ends with 0 in time. */
const output = (
  [program, ...args]: readonly [string, ...string[]],
  input: Uint8Array,
  timeout: number,
): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: {}, stdio: ['pipe', 'pipe', 'ignore'], timeout, killSignal: 'SIGKILL' })
    const parts: Buffer[] = []
    let size = 0
    child.stdout.on('data', (part: Buffer) => {
      size += part.length
      if (size > mostBytes) child.kill('SIGKILL')
      else parts.push(part)
    })
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0 && size > 0 && size <= mostBytes) resolve(Buffer.concat(parts))
      else reject(new Error('The program gave no evidence'))
    })
    // A program that reads nothing closes its input early; its output decides.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
  })

/** Without the full path, the environment would choose the program. */
const line = v.pipe(
  v.array(v.string()),
  v.check(([program = '']) => isAbsolute(program), 'begins with the full path of a program'),
)

/** Evidence from a program: it reads 64 bytes and writes a report, a quote or a document, raw. For Nitro, which has no file to read. */
export default plugin({
  port: Prover,
  name: 'command',
  settings: v.strictObject({
    /** What kind of evidence the program writes. */
    type: v.picklist(['sev-snp', 'tdx', 'nitro']),
    /** The full path of the program and its arguments. No shell reads them. */
    run: line,
    /** Ms. */
    timeout: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(60_000)), 10_000),
  }),
  create: (_, { type, run, timeout }): Prover => {
    const proved = async (reportData: Uint8Array) => {
      const evidence = await output(run as [string, ...string[]], reportData, timeout)
      return { type, v: 1, [fields[type]]: Buffer.from(evidence).toString('hex') }
    }
    return { platform: 'command', prove: inTurn(proved) }
  },
})
