import { hkdfSync, randomBytes } from 'node:crypto'
import { keepsakesUnder } from '../../../../core/access/keepsakes.ts'
import type { Seal } from '../../../../core/dialects/keepsake.ts'

/** Programs keep sealed reasoning between turns and runs. The secret is derived from the gateway's key. */
export const keepsakesOf = (apiKey: string): Seal =>
  keepsakesUnder(new Uint8Array(hkdfSync('sha256', apiKey, '', 'sealgate/seal/keepsake', 32)), 'seal', randomBytes)
