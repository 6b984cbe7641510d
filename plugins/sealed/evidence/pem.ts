import { type Certificate, readCertificate } from './certificate.ts'
import { demand, readable } from './reasons.ts'

const block = /-----BEGIN CERTIFICATE-----\n([A-Za-z0-9+/=\n]+)-----END CERTIFICATE-----\n?/y
/** In characters: three certificates have less than half of this. */
const mostText = 16 * 1024

const decoded = (base64: string): Uint8Array => {
  const text = base64.replaceAll('\n', '')
  const binary = readable(() => atob(text), 'pem')
  // Only one spelling is accepted for these bytes: no extra bits, full padding.
  demand(btoa(binary) === text, 'evidence_malformed', 'pem')
  return Uint8Array.from(binary, (char) => char.charCodeAt(0))
}

/** Reads exactly `count` consecutive PEM certificates. Throws `evidence_malformed` otherwise. */
export const readPem = (text: string, count: number): readonly Certificate[] => {
  demand(text.length <= mostText, 'evidence_malformed', 'pem')
  const found: Certificate[] = []
  block.lastIndex = 0
  let at = 0
  for (let match = block.exec(text); match !== null && found.length < count; match = block.exec(text)) {
    found.push(readCertificate(decoded(match[1]!)))
    at = block.lastIndex
  }
  demand(found.length === count && at === text.length, 'evidence_malformed', 'pem')
  return found
}
