import * as v from 'valibot'
import { createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto'
import { one } from '../../../core/container.ts'
import { plugin } from '../../../core/plugin.ts'
import { section } from '../../../core/ports/section.ts'
import { Random } from '../../../core/ports/platform.ts'
import { Settings } from '../../../core/settings.ts'

/** Seals texts that callers keep between turns instead of the gateway; another organisation can't open them. */
export interface Keepsakes {
  for(organization: string): {
    seal(text: string): string
    /** Null for a text that was not sealed for this organisation. */
    open(sealed: string): string | null
  }
}

const shape = v.optional(
  v.strictObject({
    /** Seals what callers keep between turns; one of this process alone when absent. */
    secret: v.optional(v.pipe(v.string(), v.minLength(32))),
  }),
  {},
)

/** The secret of what callers keep between turns. */
export const keepsakeSettings = section('keepsakes', shape, { fixed: ['keepsakes'] })

/** The port of keepsakes. The public dialects use it for state that a client sends back. */
export const Keepsakes = one<Keepsakes>('Keepsakes')

const cipher = 'aes-256-gcm'
/** Bytes of the salt in front and of the tag at the end of each sealed text. */
const salts = 16
const tags = 16

/** Bytes of a fresh salt. */
type Bytes = (length: number) => Uint8Array

/** AES-256-GCM under keys of HKDF. Without a configured secret, a restart makes every older keepsake unreadable. */
export const keepsakes = plugin({
  port: Keepsakes,
  name: 'keepsakes',
  sections: [keepsakeSettings],
  needs: { settings: Settings, random: Random },
  create: ({ settings, random }): Keepsakes => {
    const { secret } = keepsakeSettings.of(settings)
    const root = secret === undefined ? random.bytes(32) : createHash('sha256').update(secret).digest()
    return { for: (organization) => keepsakesUnder(root, organization, (length) => random.bytes(length)) }
  },
})

/** Keepsakes of one organisation under 32 secret bytes. */
export const keepsakesUnder = (root: Uint8Array, organization: string, random: Bytes): ReturnType<Keepsakes['for']> => {
  // A key of its own for each text: many processes may share the secret without counting nonces together.
  const keyOf = (salt: Uint8Array): readonly [key: Buffer, nonce: Buffer] => {
    const bytes = Buffer.from(hkdfSync('sha256', root, salt, `sealgate/keepsake/${organization}`, 44))
    return [bytes.subarray(0, 32), bytes.subarray(32)]
  }

  return {
    seal(text) {
      const salt = random(salts)
      const sealing = createCipheriv(cipher, ...keyOf(salt))
      const parts = [salt, sealing.update(text, 'utf8'), sealing.final(), sealing.getAuthTag()]
      return Buffer.concat(parts).toString('base64url')
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64url')
      if (bytes.length < salts + tags) return null
      const opening = createDecipheriv(cipher, ...keyOf(bytes.subarray(0, salts)))
      opening.setAuthTag(bytes.subarray(bytes.length - tags))
      const text = opening.update(bytes.subarray(salts, bytes.length - tags))
      try {
        return Buffer.concat([text, opening.final()]).toString('utf8')
      } catch {
        // Another organisation's, or of a gateway with another secret.
        return null
      }
    },
  }
}
