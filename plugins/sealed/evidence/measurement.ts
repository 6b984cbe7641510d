import { concat, utf8, toHex } from '../wire/bytes.ts'
import type { TdxRegisters } from './finding.ts'
import { digest } from './keys.ts'

const hashed = async (label: string, parts: readonly Uint8Array[]): Promise<string> =>
  toHex(await digest('SHA-384', concat(utf8(label), ...parts)))

/** A register that nothing was written to. */
const zeros = new Uint8Array(48)

/** One measurement of a trust domain, in hex. Registers that a release leaves out are zero. */
export const tdxMeasurement = (
  registers: Pick<TdxRegisters, 'mrtd' | 'rtmr'> & Partial<TdxRegisters>,
): Promise<string> =>
  hashed('sealgate-tdx/1\0', [
    registers.mrtd,
    ...registers.rtmr,
    registers.configId ?? zeros,
    registers.owner ?? zeros,
    registers.ownerConfig ?? zeros,
  ])

/** One measurement of a Nitro enclave, in hex. */
export const nitroMeasurement = (registers: {
  readonly pcr0: Uint8Array
  readonly pcr1: Uint8Array
  readonly pcr2: Uint8Array
  readonly pcr8?: Uint8Array
}): Promise<string> =>
  hashed('sealgate-nitro/1\0', [registers.pcr0, registers.pcr1, registers.pcr2, registers.pcr8 ?? zeros])
