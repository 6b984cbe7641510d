import t from 'tap'
import { countChunk } from '../../../../../plugins/surfaces/shared/straight/call-events.ts'
import { chunk } from '../../../../fakes/backends.ts'

t.test('texts, thoughts and what tools are called with count for the guess of a stream', (t) => {
  const stream = { speaks: false, characters: 0, usage: null, unfinished: 1, soFar: null }
  const custom = { index: 1, custom: { name: 'y', input: '1234' } }
  countChunk(stream, chunk({ content: '12', reasoning_content: '123' }))
  countChunk(stream, chunk({ tool_calls: [{ index: 0, function: { name: 'x', arguments: '12345' } }, custom] }))
  countChunk(stream, chunk({ tool_calls: [{ index: 0, function: { name: 'x' } }] }, 'tool_calls'))
  t.match(stream, { characters: 14, unfinished: 0, speaks: true })
  t.end()
})
