import { readFile } from 'node:fs/promises'
import { checkedConfig } from '../../config/config.ts'
import { releaseDigest } from '../../config/release-digest.ts'
import { variablesIn } from '../../config/variables.ts'
import { parsed } from '../../enclave/harden.ts'

/**
 * The digest that an enclave process reports when it runs with this configuration alone, in hex. Anyone can compute it
 * from the same file.
 */
export const configurationDigest = async (file: string): Promise<string> => {
  const written = parsed(await readFile(file, 'utf8'))
  const variables = variablesIn(written)
  // The value of a variable enters the digest only where it names a provider's host.
  const missing = variables.find((name) => process.env[name] === undefined)
  if (missing !== undefined) throw new Error(`${missing} is not set, which the configuration names`)
  const start = { written, variables, options: [], arguments: ['enclave'] }
  return Buffer.from(await releaseDigest(checkedConfig(written, process.env), start)).toString('hex')
}
