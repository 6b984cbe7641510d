import { compare, start } from './measure.ts'

/** A no-op authenticated JSON route beside the same route on bare Koa. */
export const house = async (): Promise<readonly string[]> => {
  const key = `sk_live_${'2'.repeat(44)}`
  const subjects = {
    koa: await start('koa-route', { KEY: key }),
    sealgate: await start('sealgate-route', { KEY: key }),
  }
  const load = {
    path: '/noop',
    body: JSON.stringify({ name: 'nothing', more: 'x'.repeat(200) }),
    headers: { authorization: `Bearer ${key}` },
    requests: 4000,
    concurrency: 8,
  }
  const { koa, sealgate } = await compare(subjects, () => load, 5)
  await Promise.all(Object.values(subjects).map((it) => it.stop()))
  return [
    `no-op JSON route: ${(sealgate!.cpu / koa!.cpu).toFixed(2)} times the CPU of bare Koa (at most 2.0); ` +
      `${sealgate!.cpu.toFixed(0)} and ${koa!.cpu.toFixed(0)} µs, failed ${sealgate!.failed + koa!.failed}`,
  ]
}
