import { parseArgs } from 'node:util'
import { bootGateway } from './boot-gateway.ts'
import { still } from '../log/worded-line.ts'
import { errorText } from '../../local/error-text.ts'
import { pricesIn } from '../prices-check.ts'
import { commandUsages } from './help.ts'

/** In ms: the longest wait for the model lists of providers. */
const patienceMs = 30_000

/** Lists served models without a price. Exit code 1 when there is one. */
export const prices = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> => {
  const { positionals } = parseArgs({ args: [...args], allowPositionals: true })
  if (positionals.length !== 1 || positionals[0] !== 'check') throw new Error(commandUsages.prices)
  const { gateway } = await bootGateway({ ...env, SEALGATE_LOG: 'silent' }, [])
  try {
    const { models: all, lists, withoutEnclave } = await pricesIn(gateway.supply, AbortSignal.timeout(patienceMs))
    for (const { model, mode, backend, known } of all)
      if (!known) print(['no price', still(model), mode, backend ?? ''].join('\t'))
    if (withoutEnclave !== null)
      process.stderr.write(
        `The enclave does not answer, so its models are not in this list: ${errorText(withoutEnclave)}\n`,
      )
    const missing = all.filter(({ known }) => !known).length
    const dates = Object.entries(lists).map(([vendor, day]) => `${vendor} of ${day}`)
    print(`${all.length - missing} of ${all.length} have a price; shipped prices: ${dates.join(', ')}`)
    process.exitCode = missing > 0 ? 1 : 0
  } finally {
    await gateway.close()
  }
}

const print = (line: string): void => void process.stdout.write(`${line}\n`)
