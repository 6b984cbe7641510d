import t from 'tap'
import { printEmbedded, printVectors } from '../../../plugins/shared/embedding.ts'
import { turnsDuring } from '../../turns-during.ts'

const vector = (length: number, from: number): Float32Array =>
  Float32Array.from({ length }, (_, at) => Math.sin(from + at))
const worded = (numbers: Float32Array) => ({ values: Array.from(numbers) })
const answer = (vectors: readonly Float32Array[]) => ({ vectors, usage: { input: 7, output: 0 } })
const wish = (encoding_format: 'float' | 'base64') => ({ model: 'named', input: 'a', encoding_format })

t.test('an answer with vectors is the JSON of its parts', async (t) => {
  for (const count of [0, 1, 2, 40]) {
    const vectors = Array.from({ length: count }, (_, at) => vector(300, at))
    for (const format of ['float', 'base64'] as const) {
      const bytes = await printEmbedded(answer(vectors), wish(format), 'a "model"')
      const expected = {
        object: 'list',
        data: vectors.map((numbers, index) => ({
          object: 'embedding',
          index,
          embedding: format === 'float' ? Array.from(numbers) : Buffer.from(numbers.buffer, 0, 1200).toString('base64'),
        })),
        model: 'a "model"',
        usage: { prompt_tokens: 7, total_tokens: 7 },
      }
      t.equal(Buffer.from(bytes).toString(), JSON.stringify(expected), `${count} as ${format}`)
    }
  }
})

t.test('a turn of the loop prints some thousand numbers', async (t) => {
  const print = (count: number) =>
    printVectors(
      Array.from({ length: count }, (_, at) => vector(1_024, at)),
      { before: '[', item: worded, behind: ']' },
    )
  const turns = await turnsDuring(() => print(64))
  t.ok(turns >= 30, `${turns} turns for 65,536 numbers`)
  t.equal(await turnsDuring(() => print(1)), 0, 'a short answer waits for no turn')
})
