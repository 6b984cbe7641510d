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
    const { orphans, expired } = await gateway.supply({ sweep: Sweep }).sweep.now(grace)
    process.stdout.write(`${orphans} orphans and ${expired} expired files removed\n`)
  })
}
