import t from 'tap'
import { renamed } from '../../../core/dialects/model-name.ts'

t.test('the name of the model is replaced, and no other byte', async (t) => {
  t.equal(
    renamed('{"a":1.0, "model" : "th\\u0065irs","b":"\\/"}', 'model', 'theirs', 'ours "1"'),
    '{"a":1.0, "model" : "ours \\"1\\"","b":"\\/"}',
  )
  t.equal(
    renamed('{"modelVersion":"theirs","model":"x"}', 'modelVersion', 'theirs', 'ours'),
    '{"modelVersion":"ours","model":"x"}',
  )
  t.equal(renamed('{"model":"ours"}', 'model', 'ours', 'ours'), '{"model":"ours"}')
})

t.test('a text that looks like the member stays as it is', async (t) => {
  const text = JSON.stringify({ say: '"model":"theirs"', model: 'theirs' })
  t.equal(renamed(text, 'model', 'theirs', 'ours'), JSON.stringify({ say: '"model":"theirs"', model: 'ours' }))
})

t.test('nothing is replaced where the place is not certain', async (t) => {
  for (const text of ['{"extra":{"model":"theirs"},"model":"theirs"}', '{"model":"other"}', '{"model":1}', '{}'])
    t.equal(renamed(text, 'model', 'theirs', 'ours'), null, text)
})
