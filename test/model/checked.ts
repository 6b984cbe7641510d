import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const model = resolve('test/model/sealed-road.pml')

export interface Checked {
  /** The name of the property that an attack breaks; null when all properties hold in every state. */
  readonly broken: string | null
  readonly states: number
}

/**
 * Searches all states of the model with these macros. Throws when the search ends before its last state. `-O0` compiles
 * faster than it searches; millions of states want `-O2`.
 */
export const checked = async (macros: readonly string[], level: '-O0' | '-O2' = '-O0'): Promise<Checked> => {
  const folder = await mkdtemp(join(tmpdir(), 'sealgate-model-'))
  try {
    await run('spin', ['-a', ...macros.map((macro) => `-D${macro}`), model], { cwd: folder })
    await run('gcc', [level, '-w', '-DSAFETY', '-DCOLLAPSE', '-o', 'search', 'pan.c'], { cwd: folder })
    const { stdout } = await run('./search', ['-E', '-m1000000'], { cwd: folder, maxBuffer: 1 << 24 })
    const broken = /assertion violated (\w+)/.exec(stdout)?.[1] ?? null
    const states = /(\d+) states, stored/.exec(stdout)
    const isWhole = !/max search depth too small|out of memory|unmatched/.test(stdout)
    if (states === null || !isWhole) throw new Error(`The search of the model did not end: ${stdout}`)
    return { broken, states: Number(states[1]) }
  } finally {
    await rm(folder, { recursive: true })
  }
}
