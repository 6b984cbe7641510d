import { readFileSync } from 'node:fs'
import type { ConnectOptions } from '../../plugins/sealed/client/client.ts'
import type { Policy } from '../../plugins/sealed/client/verify.ts'
import { parsePolicy } from '../../plugins/sealed/evidence/policy.ts'
import type { OptionValues } from './option-values.ts'
import { seenFile } from './seen-numbers-file.ts'

/** Options of every command that calls a gateway as a client. */
export const clientOptions = {
  'base-url': { type: 'string' },
  key: { type: 'string' },
  'allow-insecure-dev': { type: 'boolean', default: false },
  measurements: { type: 'string' },
  policy: { type: 'string' },
  memory: { type: 'string' },
} as const

export type ClientValues = OptionValues<typeof clientOptions>

/** The address, the API key and the policy for the enclave's evidence. */
export const clientOf = (values: ClientValues, env: NodeJS.ProcessEnv): ConnectOptions => {
  const baseUrl = urlOf(values['base-url'] ?? env['SEALGATE_URL'])
  const apiKey = values.key ?? env['SEALGATE_KEY']
  if (!apiKey) throw new Error('--key or SEALGATE_KEY is needed: a key of the gateway')
  return { baseUrl, apiKey, policy: policyOf(values) }
}

/** The policy for the enclave's evidence. */
export const policyOf = (values: ClientValues): Policy => {
  const measurements = values.measurements?.split(',').map((part) => part.trim().toLowerCase())
  if (measurements?.some((measurement) => !/^([0-9a-f]{2})+$/.test(measurement)))
    throw new Error('--measurements is a list in hex')
  if (measurements !== undefined && values.policy !== undefined)
    throw new Error('--measurements stands in the file of --policy')
  const stated = values.policy === undefined ? {} : parsePolicy(readFileSync(values.policy, 'utf8'))
  const allowInsecureDev = values['allow-insecure-dev'] === true
  const memory = values.memory === undefined ? {} : { memory: seenFile(values.memory) }
  return { ...stated, ...memory, allowInsecureDev, ...(measurements && { measurements }) }
}

/** Throws for every scheme but http and https. */
const urlOf = (text: string | undefined): string => {
  if (text === undefined) throw new Error('--base-url or SEALGATE_URL is needed: where the gateway is')
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new Error('--base-url is no http or https URL')
  return text
}
