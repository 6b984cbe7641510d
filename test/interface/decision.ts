import { readFile } from 'node:fs/promises'
import type { Answer } from '../fakes/literal-client.ts'
import type { Row, Scene } from './row.ts'

const path = '/compat/v1/decision'
const yes = { type: 'noul', instructions: 'Does it wait?' }
const choice = (labels: number) => ({
  type: 'choice',
  instructions: 'Which bird?',
  criteria: Object.fromEntries(Array.from({ length: labels }, (_, at) => [`bird ${at}`, `the bird number ${at}`])),
})
const score = (levels: number) => ({
  type: 'score',
  instructions: 'How grey?',
  criteria: Array.from({ length: levels }, (_, at) => `grey ${at}`),
})

const ask = ({ client }: Pick<Scene, 'client'>, questions: unknown, more: object = {}): Promise<Answer> =>
  client.send(path, { body: { model: 'decider', state: 'A heron stands still.', questions, ...more } })

const png =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const film = async (): Promise<string> =>
  `data:video/mp4;base64,${(await readFile('test/vectors/files/video/eight-colours-with-speech.mp4')).toString('base64')}`

/** Everything that a backend was asked. */
const textOf = (requests: Scene['asked']): string => requests.map(({ body }) => body.toString()).join('\n')

const sumOf = (probabilities: Readonly<Record<string, number>>): number =>
  Object.values(probabilities).reduce((sum, probability) => sum + probability, 0)

export const decisions: readonly Row[] = [
  [
    '2.3 a decision has the model, an answer for each question, the usage and diagnostics',
    async (t, scene) => {
      const { status, headers, body } = await ask(scene, { first: yes, 'an id of the client': yes })
      t.equal(status, 200)
      t.match(headers.get('content-type'), /^application\/json/, '6 it emits no events')
      t.same(Object.keys(body).sort(), ['answers', 'diagnostics', 'model', 'usage'])
      t.equal(body.model, 'decider')
      t.same(Object.keys(body.answers), ['first', 'an id of the client'])
      t.ok(Number.isInteger(body.usage.input_tokens) && Number.isInteger(body.usage.output_tokens))
      t.type(body.diagnostics, 'object')
    },
  ],
  [
    '2.2 a choice has the choice, probabilities of all labels that add up to one, and confidence',
    async (t, scene) => {
      const { body } = await ask(scene, { q: choice(3) })
      const { choice: chosen, probabilities, confidence } = body.answers.q
      t.same(Object.keys(probabilities), ['bird 0', 'bird 1', 'bird 2'])
      t.ok(Math.abs(sumOf(probabilities) - 1) < 1e-9)
      t.ok(probabilities[chosen] >= Math.max(...(Object.values(probabilities) as number[])))
      t.type(confidence, 'number')
    },
  ],
  [
    '2.2 a noul is a scalar and has no probabilities',
    async (t, scene) => {
      const { body } = await ask(scene, {
        q: yes,
        described: { ...yes, criteria: { true: 'it waits', false: 'it flies' } },
      })
      for (const answer of Object.values<any>(body.answers)) {
        t.type(answer.noul, 'number')
        t.notOk('probabilities' in answer)
      }
    },
  ],
  [
    '2.2 a score is the weighted mean over levels that begin at zero, with its legend',
    async (t, scene) => {
      const { body } = await ask(scene, { q: score(4) })
      const { score: mean, legend, probabilities, confidence } = body.answers.q
      const weighted = Object.entries<number>(probabilities).reduce(
        (sum, [level, probability]) => sum + Number(level) * probability,
        0,
      )
      t.ok(Math.abs(mean - weighted) < 1e-9)
      t.same(Object.keys(legend), ['0', '1', '2', '3'])
      t.ok(Math.abs(sumOf(probabilities) - 1) < 1e-9)
      t.type(confidence, 'number')
    },
  ],
  [
    '2.2 the state is a text, an object, a list, a number, a truth or null',
    async (t, scene) => {
      for (const state of ['text', { a: 1 }, [1, 'b'], 4, true, null])
        t.equal((await ask(scene, { q: yes }, { state })).status, 200, JSON.stringify(state))
    },
  ],
  [
    '2.2 model, state and questions are required',
    async (t, { client }) => {
      const whole = { model: 'decider', state: 'x', questions: { q: yes } }
      for (const name of ['model', 'state', 'questions'] as const) {
        const { [name]: _, ...body } = whole
        const answer = await client.send(path, { body })
        t.equal(answer.status, 400)
        t.ok(answer.body.validator[name], name)
      }
    },
  ],
  [
    '2.2 additional properties are accepted',
    async (t, scene) => {
      const { status } = await ask(scene, { q: { ...yes, note: 1 } }, { trace: { id: 'x' }, user: 'u' })
      t.equal(status, 200)
    },
  ],
  [
    '2.2 samples and steps are whole numbers',
    async (t, scene) => {
      t.equal((await ask(scene, { q: yes }, { samples: 2, steps: 1 })).status, 200)
      for (const more of [{ samples: 'two' }, { samples: 1.5 }, { steps: 0 }])
        t.equal((await ask(scene, { q: yes }, more)).status, 400, JSON.stringify(more))
    },
  ],
  [
    '2.2 provider pins one of the backends that the model has',
    async (t, scene) => {
      t.equal((await ask(scene, { q: yes }, { provider: 'openai' })).status, 200)
      const { status, body } = await ask(scene, { q: yes }, { provider: 'another' })
      t.equal(status, 400)
      t.match(body.validator.provider, /openai/)
    },
  ],
  [
    '8 a choice has 1 to 26 labels',
    async (t, scene) => {
      for (const [labels, status] of [
        [0, 400],
        [1, 200],
        [26, 200],
        [27, 400],
      ] as const)
        // prettier-ignore
        t.equal((await ask(scene, { q: choice(labels) })).status, status, `${labels} labels`)
    },
  ],
  [
    '8 a score has 2 to 10 levels',
    async (t, scene) => {
      for (const [levels, status] of [
        [1, 400],
        [2, 200],
        [10, 200],
        [11, 400],
      ] as const)
        // prettier-ignore
        t.equal((await ask(scene, { q: score(levels) })).status, status, `${levels} levels`)
    },
  ],
  [
    '8 a request has at most 16 questions',
    async (t, scene) => {
      const questions = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`q${at}`, yes]))
      t.equal((await ask(scene, questions(16))).status, 200)
      t.equal((await ask(scene, questions(17))).status, 400)
    },
  ],
  [
    '4.1.1 images and videos are not both present, and each is one at most',
    async (t, scene) => {
      const mp4 = await film()
      for (const more of [{ images: [png], videos: [mp4] }, { images: [png, png] }, { videos: [mp4, mp4] }])
        t.equal((await ask(scene, { q: yes }, more)).status, 400, Object.keys(more).join(' and '))
      t.equal((await ask(scene, { q: yes }, { images: [], videos: [] })).status, 200, 'empty lists are none')
    },
  ],
  [
    '4.1.2 the image is placed ahead of the state',
    async (t, scene) => {
      const from = scene.asked.length
      t.equal((await ask(scene, { q: yes }, { images: [png] })).status, 200)
      const told = textOf(scene.asked.slice(from))
      t.ok(told.indexOf(png) > 0 && told.indexOf(png) < told.indexOf('A heron stands still.'))
    },
  ],
  [
    '4.1.3 four frames of a video are sampled, and no sound',
    async (t, scene) => {
      const from = scene.asked.length
      t.equal((await ask(scene, { q: yes }, { videos: [await film()] })).status, 200)
      const [request] = scene.asked.slice(from)
      t.equal(request!.body.toString().match(/data:image\//g)?.length, 4)
      t.notMatch(request!.body.toString(), /audio|video\/mp4/)
    },
  ],
  [
    '4.1.3 a video is an MP4 data URL of at most 10 MiB',
    async (t, scene) => {
      const long = `data:video/mp4;base64,${Buffer.alloc(10 * 1024 * 1024 + 1).toString('base64')}`
      for (const video of [
        long,
        'data:video/webm;base64,AAAA',
        'https://example.org/a.mp4',
        'data:video/mp4;base64,AAAA',
      ])
        t.equal((await ask(scene, { q: yes }, { videos: [video] })).status, 400, video.slice(0, 30))
    },
  ],
  [
    '4.1.4 a stream field is not supported',
    async (t, scene) => {
      const { status, body } = await ask(scene, { q: yes }, { stream: true })
      t.equal(status, 400)
      t.ok(body.validator.stream)
    },
  ],
  [
    '4.1.5 a chat-only model on the decision route is a validation error',
    async (t, scene) => {
      const { status, body } = await ask(scene, { q: yes }, { model: 'seer' })
      t.equal(status, 400)
      t.ok(body.validator.model)
    },
  ],
  [
    '4.1.6 a question reads no other question',
    async (t, scene) => {
      const from = scene.asked.length
      await ask(scene, {
        one: { ...yes, instructions: 'Is it blue?' },
        other: { ...yes, instructions: 'Is it large?' },
      })
      const told = scene.asked.slice(from).map(({ body }) => body.toString())
      t.equal(told.length, 2)
      t.ok(told.every((line) => line.includes('Is it blue?') !== line.includes('Is it large?')))
    },
  ],
  [
    '2.1 an error of the decision route has no further properties',
    async (t, scene) => {
      const { body } = await ask(scene, {})
      const fields = ['data', 'env', 'error', 'log', 'message', 'status', 'support_id', 'validator']
      t.same(Object.keys(body).sort(), fields)
    },
  ],
  [
    '5.2 the decision route needs a key of the scope chats.completion',
    async (t, { scoped, client }) => {
      t.equal((await ask({ client: await scoped('chats.completion') }, { q: yes })).status, 200)
      t.equal((await ask({ client: await scoped('files.encrypted.read') }, { q: yes })).status, 403)
      const headers = { authorization: '' }
      t.equal((await client.send(path, { headers, body: {} })).status, 401)
    },
  ],
  [
    '7 a model that is not there is a 404 of the decision route',
    async (t, scene) => {
      t.equal((await ask(scene, { q: yes }, { model: 'nobody' })).status, 404)
    },
  ],
  [
    '7 a backend that fails is a 503 of the decision route',
    async (t, scene) => {
      const { status, body } = await ask(scene, { q: yes }, { model: 'broken' })
      t.equal(status, 503)
      t.equal(body.status, 503)
    },
  ],
  [
    '4.2 the listing has the models that decide, and no other',
    async (t, { client }) => {
      const { status, body } = await client.send('/compat/v1/models')
      t.equal(status, 200)
      const names = body.data.map(({ model }: { model: string }) => model)
      t.same(names.sort(), ['broken', 'decider', 'slow'])
      t.not((await ask({ client }, { q: yes }, { model: 'decider' })).status, 404)
    },
  ],
]
