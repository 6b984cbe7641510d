import { parseArgs } from 'node:util'
import { Sweep } from '../../../plugins/sealed/files/sweep.ts'
import { withGateway } from './with-gateway.ts'

/** Removes the remains of killed processes and expired files, without waiting for the gateway's own sweep. */
export const sweep = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> => {
  const { values } = parseArgs({ args: [...args], options: { grace: { type: 'string' } } })
  if (values.grace !== undefined && !/^\d+$/.test(values.grace))
    throw new Error('--grace is a whole number of milliseconds')
  const grace = values.grace === undefined ? undefined : Number(values.grace)
  await withGateway(env, async (gateway) => {
    // Every gateway has made a key. Beside the store of none, all files would be orphans.
    if ((await gateway.keys.list(null, 1, 0)).total === 0) throw new Error(wrongRows)
    const { orphans, expired } = await gateway.supply({ sweep: Sweep }).sweep.now(grace)
    process.stdout.write(`${orphans} orphans and ${expired} expired files removed\n`)
  })
}

const wrongRows =
  'nothing is removed: the row store has no key, so no gateway has served with it, and every file would be an orphan; ' +
  'do storage.metadata and SEALGATE_DATA name the store of the gateway?'
