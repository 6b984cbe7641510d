import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import * as v from 'valibot'
import { GatewayError } from '../../core/errors.ts'
import { defaultQueue } from '../../plugins/shared/fair-shares.ts'
import { type ModelUse, currentErrand, runErrand } from '../../plugins/shared/errand.ts'
import type { Hit, OpenFile, Tool } from '../../core/ports/tool.ts'
import { type Contract, proof } from './contract.ts'

/** A tool with one call that works and one that the tool itself refuses (null when its parameters leave nothing to refuse). */
export interface Tried {
  readonly tool: Tool
  readonly good: { readonly params: unknown; readonly file?: OpenFile }
  readonly bad: { readonly params: unknown; readonly file?: OpenFile } | null
}

const found: Hit = { fileId: 'file_1', snippet: 'found', score: 1, page: null }

const run = (tool: Tool, params: unknown, signal: AbortSignal, file?: OpenFile): Promise<unknown> => {
  if (tool.kind === 'reads-file') return tool.run(params, signal, file!)
  if (tool.kind === 'retrieval') return tool.run(params, signal, async () => [found])
  return tool.run(params, signal)
}

const contract = {
  'has a name that can stand in a path, and a description': async (fresh) => {
    const { tool } = await fresh()
    ok(/^[A-Za-z][A-Za-z0-9]{2,63}$/.test(tool.name))
    ok(tool.description.length >= 10 && tool.description.length <= 500)
  },
  'takes the parameters it says it takes, and no others': async (fresh) => {
    const { tool, good } = await fresh()
    ok(v.safeParse(tool.params, good.params).success)
    for (const wrong of [null, 1, 'text', []]) ok(!v.safeParse(tool.params, wrong).success)
    ok(
      !v.safeParse(tool.params, Object.fromEntries(Object.keys(good.params as object).map((key) => [key, null])))
        .success,
    )
  },
  'gives plain JSON, or a file': async (fresh) => {
    const { tool, good } = await fresh()
    const result = await run(tool, good.params, AbortSignal.timeout(60_000), good.file)
    if (tool.kind !== 'makes-file') return deepEqual(JSON.parse(JSON.stringify(result)), result)
    const { name, mime, bytes } = result as { name: unknown; mime: unknown; bytes: unknown }
    equal(typeof name, 'string')
    ok(/^[\w.+-]+\/[\w.+-]+/.test(String(mime)))
    ok(bytes instanceof Uint8Array)
  },
  'says which allowances pay for the models that work for it': async (fresh) => {
    const { tool, good } = await fresh()
    const uses: ModelUse[] = []
    await runErrand({ organization: 'default', key: 'key', queue: defaultQueue, models: null, uses }, () =>
      run(tool, good.params, AbortSignal.timeout(60_000), good.file),
    )
    const paid = {
      tokens: uses.some(({ usage }) => usage !== null),
      audio: uses.some((use) => use.audioSeconds !== null),
    }
    if (tool.kind === 'retrieval') return
    for (const allowance of ['tokens', 'audio'] as const)
      if (paid[allowance]) ok(tool.takes?.includes(allowance), `${allowance} are taken and not declared`)
  },
  'refuses in words of its own, without a word of the caller': async (fresh) => {
    const { tool, bad } = await fresh()
    if (bad === null) return
    await rejects(run(tool, bad.params, AbortSignal.timeout(60_000), bad.file), (error: unknown) => {
      ok(error instanceof GatewayError)
      const text = JSON.stringify([error.message, error.validator])
      for (const value of Object.values(bad.params as object)) {
        if (typeof value === 'string' && value.length > 2) ok(!text.includes(value))
      }
      return true
    })
  },
  'stops when it is told to before it began': async (fresh) => {
    const { tool, good } = await fresh()
    const reason = new Error('stopped')
    await rejects(run(tool, good.params, AbortSignal.abort(reason), good.file), (error) => error === reason)
  },
} satisfies Contract<Tried>

const params = v.object({ word: v.string() })
const echo: Tool<typeof params> = {
  name: 'echo',
  description: 'Says whether the word is short.',
  kind: 'simple',
  params,
  async run({ word }, signal) {
    signal.throwIfAborted()
    if (word.length > 5) throw new GatewayError('Too long')
    return { short: true }
  },
}
const right = (): Tried => ({ tool: echo, good: { params: { word: 'hi' } }, bad: { params: { word: 'endless' } } })
const with_ = (change: Partial<typeof echo>) => () => ({ tool: { ...echo, ...change } as Tool })

export const tool = proof<Tried, typeof contract>({
  contract,
  right,
  wrong: {
    'has a name that can stand in a path, and a description': with_({ description: '' }),
    'takes the parameters it says it takes, and no others': with_({ params: v.any() as never }),
    'gives plain JSON, or a file': with_({ run: async () => ({ at: new Date() }) }),
    'says which allowances pay for the models that work for it': with_({
      run: async () => {
        currentErrand()?.uses.push({ model: 'm', backend: 'b', usage: { input: 1, output: 1 }, audioSeconds: null })
        return { short: true }
      },
    }),
    'refuses in words of its own, without a word of the caller': with_({
      run: async ({ word }) => {
        throw new GatewayError(word)
      },
    }),
    'stops when it is told to before it began': with_({ run: async () => ({ short: true }) }),
  },
})
