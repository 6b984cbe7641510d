import type { Config } from './config.ts'

/** Splits the settings of an enclave into the gateway's part for evidence and the part for inside. */
export const splitEnclaveSettings = ({ collateral, releases, notices, ...inside }: Config['enclave']) => ({
  beside: { ...(collateral && { collateral }), ...(releases && { releases }), ...(notices && { notices }) },
  inside,
})

/** Throws when production would serve evidence that proves nothing. `allowDev` permits it. */
export const refuseDev = ({ env, enclave: { evidence, allowDev } }: Config): void => {
  if (env === 'production' && (evidence?.use ?? 'dev') === 'dev' && !allowDev)
    throw new Error('enclave.evidence is dev, which proves nothing; enclave.allowDev serves it in production')
}
