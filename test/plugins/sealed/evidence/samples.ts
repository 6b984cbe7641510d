import { readFileSync } from 'node:fs'
import { fromHex } from '../../../../plugins/sealed/wire/bytes.ts'

const folder = 'test/vectors/evidence'

/** A file of test/vectors/evidence as bytes. */
export const sample = (name: string): Uint8Array => new Uint8Array(readFileSync(`${folder}/${name}`))

/** Certificates of a PEM file, each as DER. */
export const pem = (name: string): readonly Uint8Array[] =>
  [...readFileSync(`${folder}/${name}`, 'latin1').matchAll(/-----BEGIN[^-]+-----([^-]+)-----END/g)].map(
    (match) => new Uint8Array(Buffer.from(match[1]!, 'base64')),
  )

export const hexSample = (name: string): Uint8Array =>
  fromHex(readFileSync(`${folder}/${name}`, 'latin1').trim().toLowerCase(), 1 << 20)!

export const json = (name: string): Record<string, string> =>
  JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')) as Record<string, string>

/** The reason and detail with which this refuses; null when it does not. Any other error goes on. */
export const refusal = async (work: () => unknown): Promise<string | null> => {
  const { Refusal } = await import('../../../../plugins/sealed/evidence/reasons.ts')
  try {
    await work()
    return null
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return error.detail === null ? error.reason : `${error.reason}: ${error.detail}`
  }
}
