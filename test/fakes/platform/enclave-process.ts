import { enclave } from '../../../adapters/production/enclave/enclave-main.ts'

// An enclave process that takes the roots of the test platform, which only code can name. `TEST_ROOT` is Genoa's, in hex.
const root = new Uint8Array(Buffer.from(process.env['TEST_ROOT'] ?? '', 'hex'))
const start = { written: null, options: [], arguments: ['enclave'], variables: [] }
await enclave(process.env, start, { 'sev-snp': { Genoa: root } })
