import t from 'tap'
import { batchesOf, embedInBatches } from '../../../../plugins/providers/shared/embed-in-batches.ts'
import { failed } from '../../../helpers.ts'
import { never } from '../../../fakes/vendor.ts'

const text = (tokens: number) => 'word'.repeat(tokens)

t.test('batches hold to the number of texts and to the tokens, and lose no text', async (t) => {
  const sizesOf = (texts: readonly string[], bounds: { texts: number; tokens?: number }) =>
    [...batchesOf(texts, bounds)].map((some) => some.map((one) => one.length / 4))
  t.same(sizesOf([1, 1, 1, 1, 1].map(text), { texts: 2 }), [[1, 1], [1, 1], [1]])
  t.same(sizesOf([4, 4, 3, 8, 1].map(text), { texts: 9, tokens: 10 }), [[4, 4], [3], [8, 1]])
  t.same(sizesOf([50, 1, 50].map(text), { texts: 9, tokens: 10 }), [[50], [1], [50]], 'a long text goes alone')
  t.same(sizesOf([5, 5].map(text), { texts: 9, tokens: 10 }), [[5, 5]], 'a full batch')
  t.same(sizesOf([text(1)], { texts: 1 }), [[1]])
})

t.test('a fault of one batch is the fault of the call, and no further batch goes out', async (t) => {
  const sent: (readonly string[])[] = []
  const embed = embedInBatches(
    async ({ texts }) => {
      sent.push(texts)
      if (texts.includes('c')) throw new Error('Gone')
      return { vectors: texts.map(() => new Float32Array(1)), usage: { input: 1, output: 0 } }
    },
    { texts: 2 },
  )
  const fault = await failed(embed({ model: 'm', texts: ['a', 'b', 'c', 'd', 'e'] }, never))
  t.match(fault, { message: 'Gone' })
  t.same(sent, [
    ['a', 'b'],
    ['c', 'd'],
  ])
})
