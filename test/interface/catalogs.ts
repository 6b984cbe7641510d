import type { Row } from './row.ts'

const types = ['CHAT', 'AUDIO_TRANSCRIPTION', 'AUDIO_SPEECH', 'IMAGE']
const region = { prompt_price_per_k: Number, completion_price_per_k: Number }

export const catalogs: readonly Row[] = [
  [
    '2.4 the catalog is a list of entries with all of their fields',
    async (t, { client }) => {
      const { status, body } = await client.send('/std/models')
      t.equal(status, 200)
      t.equal(body.object, 'list')
      const whole = ['id', 'created', 'requires_auth', 'visible_in_dashboard']
      const counts = ['likes_count', 'dislikes_count', 'total_reviews', 'rating_percent']
      for (const entry of body.data) {
        for (const name of [...whole, ...counts]) t.ok(Number.isInteger(entry[name]), `${entry.model}: ${name}`)
        for (const name of ['owned_by', 'model', 'name', 'description', 'usage_mode'])
          t.type(entry[name], 'string', name)
        t.equal(entry.object, 'model')
        t.ok(types.includes(entry.type), entry.type)
        t.ok(Array.isArray(entry.input_modalities) && Array.isArray(entry.regions))
        t.type(entry.price_config, 'object')
      }
      const ids = body.data.map(({ id }: { id: number }) => id)
      t.equal(new Set(ids).size, ids.length)
    },
  ],
  [
    '2.4 a price stands under standard and its region',
    async (t, { client }) => {
      const { body } = await client.send('/std/models')
      const { price_config, regions } = body.data.find(({ model }: { model: string }) => model === 'seer')
      t.match(price_config.standard[regions[0]], region)
    },
  ],
  [
    '2.4 the model of an entry is what requests send',
    async (t, { client }) => {
      const { body } = await client.send('/std/models?type=CHAT')
      t.ok(body.data.length > 0)
      const messages = [{ role: 'user', content: 'Hi' }]
      for (const { model } of body.data.filter((row: { model: string }) => row.model !== 'slow')) {
        const answer = await client.send('/std/chat/completions', { body: { model, messages } })
        t.not(answer.status, 404, model)
      }
    },
  ],
  [
    '4.4 type filters the catalog by the type of a model',
    async (t, { client }) => {
      for (const type of types) {
        const { status, body } = await client.send(`/std/models?type=${type}`)
        t.equal(status, 200)
        t.ok(
          body.data.every((entry: { type: string }) => entry.type === type),
          type,
        )
      }
      const { body: images } = await client.send('/std/models?type=IMAGE')
      t.ok(images.data.length > 0)
      t.equal((await client.send('/std/models?type=VIDEO')).status, 400)
    },
  ],
  [
    '4.4 a catalog is for callers with a key',
    async (t, { client }) => {
      for (const path of ['/std/models', '/compat/v1/models', '/rvenc/models']) {
        t.equal((await client.send(path, { headers: { authorization: '' } })).status, 401, path)
      }
    },
  ],
  [
    '4.5 the confidential catalog has the models for encrypted inference',
    async (t, { client }) => {
      const { status, body } = await client.send('/rvenc/models')
      t.equal(status, 200)
      const names = body.data.map(({ model }: { model: string }) => model)
      t.ok(names.includes('vault') && names.includes('listener'))
      t.notOk(names.includes('decider'))
    },
  ],
]
