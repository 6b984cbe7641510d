import type { Config } from './config.ts'

/** The settings of an enclave: what the gateway lays beside its evidence, and what the inside is told. */
export const parted = ({ collateral, releases, notices, ...inside }: Config['enclave']) => ({
  beside: { ...(collateral && { collateral }), ...(releases && { releases }), ...(notices && { notices }) },
  inside,
})

/** Throws where keys that prove nothing would be taken for proved. `allowDev` says that this is meant. */
export const refuseDev = ({ env, enclave: { evidence, allowDev } }: Config): void => {
  if (env === 'production' && (evidence?.use ?? 'dev') === 'dev' && !allowDev)
    throw new Error('enclave.evidence is dev, which proves nothing; enclave.allowDev serves it in production')
}
