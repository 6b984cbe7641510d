import type { Config } from './config.ts'

/** Splits the settings of an enclave into the gateway's part for evidence and the part for inside. */
export const splitEnclaveSettings = ({ collateral, releases, notices, ...inside }: Config['enclave']) => ({
  beside: { ...(collateral && { collateral }), ...(releases && { releases }), ...(notices && { notices }) },
  inside,
})
