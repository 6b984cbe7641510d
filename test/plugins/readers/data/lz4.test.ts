import '../../../fakes/unwatched.ts'
import t from 'tap'
import { lz4Block, lz4Blocks } from '../../../../plugins/readers/data/data-parquet-lz4.ts'

/** By liblz4, as pyarrow calls it: eight letters, a copy that reaches into itself, and the end. */
const block = Buffer.from('8f61626364656667680800857074686520656e64', 'hex')
const text = `${'abcdefgh'.repeat(20)}the end`

const framed = (block: Uint8Array, size: number): Buffer => {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(size, 0)
  head.writeUInt32BE(block.length, 4)
  return Buffer.concat([head, block])
}

t.test('a block', (t) => {
  const { length } = text
  t.equal(Buffer.from(lz4Block(block, length)).toString(), text)
  for (const other of [length - 1, length + 1])
    t.throws(() => lz4Block(block, other), { message: /LZ4/ }, 'another size')
  for (let cut = 0; cut < block.length; cut++) t.throws(() => lz4Block(block.subarray(0, cut), length), /LZ4/, `${cut}`)
  const [before, zero] = [Buffer.from(block), Buffer.from(block)]
  before.writeUInt16LE(9, 9)
  zero.writeUInt16LE(0, 9)
  for (const wrong of [before, zero]) t.throws(() => lz4Block(wrong, length), /not there/)
  t.end()
})

t.test('the older codec has blocks with their lengths, or one block', (t) => {
  const two = Buffer.concat([framed(block, text.length), framed(block, text.length)])
  t.equal(Buffer.from(lz4Blocks(two, text.length * 2)).toString(), text + text)
  t.equal(Buffer.from(lz4Blocks(block, text.length)).toString(), text)
  t.throws(() => lz4Blocks(two, text.length), /LZ4/)
  t.end()
})
