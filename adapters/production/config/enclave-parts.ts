import type { Config } from './config.ts'

export const splitEnclaveSettings = ({ collateral, releases, notices, ...inside }: Config['enclave']) => ({
  beside: { ...(collateral && { collateral }), ...(releases && { releases }), ...(notices && { notices }) },
  inside,
})
