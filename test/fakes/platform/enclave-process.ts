import { enclave } from '../../../adapters/production/enclave/enclave-main.ts'

// An enclave process that takes roots of the test platform, which only code can name: Genoa's in `TEST_ROOT`, that of TDX in
// `TEST_TDX_ROOT`, in hex.
const rootIn = (name: string): Uint8Array | null => {
  const hex = process.env[name]
  return hex === undefined ? null : new Uint8Array(Buffer.from(hex, 'hex'))
}
const [genoa, tdx] = [rootIn('TEST_ROOT'), rootIn('TEST_TDX_ROOT')]
const start = { written: null, options: [], arguments: ['enclave'], variables: [] }
await enclave(process.env, start, { ...(genoa && { 'sev-snp': { Genoa: genoa } }), ...(tdx && { tdx }) })
