import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import type { StartGateway } from '../../adapters/drill/play-acts.ts'
import { scenes } from '../../adapters/drill/scenes.ts'
import { drill, mostSlow, patienceFor, responsesWordings, settingsFor, startOurs, startResponses } from './drill.ts'
import { isExpected, sealedScenes, startSealed } from './sealed.ts'
import { responses, sealedTongues, tongues } from './tongues.ts'
import { isWhole, sampled, seed } from '../whole.ts'

const pace = 0.05

/** By day the first tongue plays every scene, and each of the others a third of them, which differ by tongue and by day. */
for (const [at, tongue] of tongues.entries()) {
  const played = at === 0 ? scenes : sampled(scenes, 3, seed + at)
  t.test(`ours passes ${played.length} of ${scenes.length} scenes in ${tongue.name}`, async (t) => {
    t.comment(`SEALGATE_SEED=${seed}: ${played.map(({ name }) => name).join(' ')}`)
    const results = await drill(startOurs, pace, tongue, played)
    for (const { scene, mark, note } of results) t.equal(mark, 'pass', `${scene.name} ${scene.title} ${note}`)
    t.equal(results.length, played.length)
  })
}

/** The dialect of the backend has every scene by day, and each of the others a third of them. */
for (const [at, tongue] of tongues.entries()) {
  const played = tongue === responses ? scenes : sampled(scenes, 3, seed + tongues.length + at)
  t.test(
    `before a backend of Responses, ours passes ${played.length} of ${scenes.length} scenes in ${tongue.name}`,
    async (t) => {
      t.comment(`SEALGATE_SEED=${seed}: ${played.map(({ name }) => name).join(' ')}`)
      const results = await drill(startResponses, pace, tongue, played, responsesWordings)
      for (const { scene, mark, note } of results) t.equal(mark, 'pass', `${scene.name} ${scene.title} ${note}`)
      t.equal(results.length, played.length)
    },
  )
}

t.test('a caller waits longer than the gateway waits for a silent backend, however slow the machine is', (t) => {
  for (const slow of [1, 2, mostSlow]) {
    const { firstToken } = settingsFor(pace, slow).timeouts!
    t.ok(patienceFor(pace, slow) >= Number(firstToken) + 5_000, `${slow} times as slow`)
  }
  t.end()
})

t.test('every scene is known', (t) => {
  t.equal(scenes.length, 21)
  t.end()
})

/** The scenes are paced by the clock, so a busy machine judges them wrongly: the night plays them, as `npm run drill` does. */
for (const tongue of sealedTongues.filter(({ name }) => /Responses|Messages/.test(name))) {
  t.test(
    `sealgate seal passes the scenes in ${tongue.name}`,
    { skip: !isWhole && 'SEALGATE_WHOLE=1 plays it' },
    async (t) => {
      const results = await drill(startSealed, 4 * pace, tongue, sealedScenes)
      for (const result of results)
        t.ok(isExpected(result), `${result.scene.name} ${result.scene.title}: ${result.mark} ${result.note}`)
      t.equal(results.length, 20)
    },
  )
}

/** Hands everything through, calls every end a good one, and never lets a backend go. */
const startNaive: StartGateway = async (faulty) => {
  const server = createServer((asked, answer) => {
    const url = new URL(faulty.replace('/v1', '') + asked.url!.replace('/std', '/v1'))
    const onward = request(
      url,
      { method: asked.method, headers: { 'content-length': asked.headers['content-length'] } },
      (back) => {
        answer.writeHead(back.statusCode!, { 'content-type': back.headers['content-type'] })
        back.on('data', (part) => answer.write(part))
        back.on('error', () => answer.end('data: [DONE]\n\n')).on('end', () => answer.end())
      },
    )
    onward.on('error', () => answer.writeHead(502).end('{}'))
    asked.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    target: { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: 'any' },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

t.test('the drill is sharp', async (t) => {
  const results = await drill(startNaive, pace)
  const marked = (mark: string) => results.filter((result) => result.mark === mark).map(({ scene }) => scene.name)
  const rest = results.filter(({ scene }) => !['S04', 'S05', 'S07', 'S13', 'S16'].includes(scene.name))
  for (const { scene, mark, note } of rest) t.equal(mark, 'fail', `${scene.name} ${scene.title} ${note}`)
  t.same(
    marked('pass'),
    ['S04', 'S13', 'S16'],
    'it has no second backend to be refused by, and the others ask for nothing',
  )
  t.same([marked('partial'), marked('safe')], [['S07'], ['S05']])
})
