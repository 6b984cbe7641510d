import { parseArgs } from 'node:util'
import { Sweep } from '../../../plugins/sealed/files/sweep.ts'
import { bootGateway } from './boot-gateway.ts'

/** Removes the remains of killed processes and expired files, without waiting for the gateway's own sweep. */
export const sweep = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> => {
  const { values } = parseArgs({ args: [...args], options: { grace: { type: 'string' } } })
  const grace = values.grace === undefined ? undefined : Number(values.grace)
  if (grace !== undefined && !(grace >= 0)) throw new Error('--grace is a number of milliseconds')
  const { gateway } = await bootGateway({ ...env, SEALGATE_LOG: 'silent' }, [])
  try {
    const { orphans, expired } = await gateway.supply({ sweep: Sweep }).sweep.now(grace)
    process.stdout.write(`${orphans} orphans and ${expired} expired files removed\n`)
  } finally {
    await gateway.close()
  }
}
