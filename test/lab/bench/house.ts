import { contest, times } from './contest.ts'
import { type Subject, measure, start } from './measure.ts'
import { told } from './told.ts'

/** A no-op authenticated JSON route beside the same route on bare Koa. */
export const house = async (): Promise<readonly string[]> => {
  const key = `sk_live_${'2'.repeat(44)}`
  const [koa, ours] = await Promise.all([start('koa-route', { KEY: key }), start('sealgate-route', { KEY: key })])
  const load = {
    path: '/noop',
    body: JSON.stringify({ name: 'nothing', more: 'x'.repeat(200) }),
    headers: { authorization: `Bearer ${key}` },
    requests: 2000,
    concurrency: 8,
  }
  const round = (subject: Subject) => async () => {
    const { cpu, failed } = await measure(subject, load)
    if (failed > 0) throw new Error(`${failed} requests failed`)
    return cpu
  }
  try {
    const { route } = await contest(round(koa), { route: round(ours) }, times)
    return [told('no-op JSON route', route!, 2, 'bare Koa')]
  } finally {
    await Promise.all([koa, ours].map((subject) => subject.stop()))
  }
}
