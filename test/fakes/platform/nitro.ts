import { createHash } from 'node:crypto'
import { concat, toHex } from '../../../plugins/sealed/wire/bytes.ts'
import {
  type CertificateParts,
  type Signer,
  constraints,
  curveSigner,
  keyUsage,
  makeCertificate,
} from './certificates.ts'

type Value = number | string | Uint8Array | null | readonly Value[] | ReadonlyMap<Value, Value>

const head = (kind: number, value: number): Uint8Array => {
  if (value < 24) return Uint8Array.of((kind << 5) | value)
  const size = value < 256 ? 1 : value < 65_536 ? 2 : value < 2 ** 32 ? 4 : 8
  const bytes = Uint8Array.from({ length: size }, (_, at) => Math.floor(value / 256 ** (size - 1 - at)) % 256)
  return concat(Uint8Array.of((kind << 5) | (24 + Math.log2(size))), bytes)
}

export const cbor = (value: Value): Uint8Array => {
  if (value === null) return Uint8Array.of(0xf6)
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') return concat(head(3, Buffer.byteLength(value)), new Uint8Array(Buffer.from(value)))
  if (value instanceof Uint8Array) return concat(head(2, value.length), value)
  if (value instanceof Map) return concat(head(5, value.size), ...[...value].flat().map(cbor))
  const list = value as readonly Value[]
  return concat(head(4, list.length), ...list.map(cbor))
}

const day = 86_400_000
export const nitroKeys = {
  root: curveSigner('p384'),
  zone: curveSigner('p384'),
  leaf: curveSigner('p384'),
  other: curveSigner('p384'),
}

export interface NitroOptions {
  readonly now: number
  readonly reportData: Uint8Array
  /** Changes the members before they are signed. */
  readonly members?: (members: Map<Value, Value>) => void
  readonly pcrs?: (pcrs: Map<Value, Value>) => void
  readonly header?: Uint8Array
  readonly unprotected?: Map<Value, Value>
  readonly leaf?: Partial<CertificateParts>
  readonly zone?: Partial<CertificateParts>
  readonly by?: Signer
  /** The whole document, to be changed or replaced. */
  readonly afterwards?: (document: Uint8Array) => Uint8Array
  readonly tagged?: boolean
  /** Changes the signature, r‖s. */
  readonly signature?: (signature: Uint8Array) => Uint8Array
}

export const register = (byte: number): Uint8Array => new Uint8Array(48).fill(byte)

const long = { notBefore: (now: number) => now - 30 * day, notAfter: (now: number) => now + 300 * day }

/** Evidence of Nitro that holds in everything but what the options change, and the hash of its root. */
export const makeNitro = (options: NitroOptions) => {
  const { now, reportData } = options
  const dates = { notBefore: long.notBefore(now), notAfter: long.notAfter(now) }
  const root = makeCertificate({
    ...{
      issuer: 'aws.nitro-enclaves',
      subject: 'aws.nitro-enclaves',
      ...dates,
      key: nitroKeys.root,
      by: nitroKeys.root,
    },
    extensions: [constraints(), keyUsage(0x86)],
  })
  const zone = makeCertificate({
    ...{ issuer: 'aws.nitro-enclaves', subject: 'zone', ...dates, key: nitroKeys.zone, by: nitroKeys.root },
    extensions: [constraints(0), keyUsage(0x06)],
    ...options.zone,
  })
  const leaf = makeCertificate({
    ...{ issuer: 'zone', subject: 'enclave', key: nitroKeys.leaf, by: nitroKeys.zone },
    ...{ notBefore: now - 3_600_000, notAfter: now + 7_200_000, extensions: [] },
    ...options.leaf,
  })
  const pcrs = new Map<Value, Value>([0, 1, 2, 3, 4, 8].map((index) => [index, register(index < 3 ? 0xab : 0)]))
  options.pcrs?.(pcrs)
  const members = new Map<Value, Value>([
    ['module_id', 'i-0123-enc0123'],
    ['digest', 'SHA384'],
    ['timestamp', now - 1000],
    ['pcrs', pcrs],
    ['certificate', leaf],
    ['cabundle', [root, zone]],
    ['public_key', null],
    ['user_data', reportData],
    ['nonce', null],
  ])
  options.members?.(members)
  const [header, payload] = [options.header ?? cbor(new Map([[1, -35]])), cbor(members)]
  const signature = (options.by ?? nitroKeys.leaf).flat(cbor(['Signature1', header, new Uint8Array(0), payload]))
  const signed = options.signature?.(signature) ?? signature
  const parts = cbor([header, options.unprotected ?? new Map(), payload, signed])
  const document = options.tagged ? concat(Uint8Array.of(0xd2), parts) : parts
  const hash = new Uint8Array(createHash('sha256').update(root).digest())
  const whole = options.afterwards?.(document) ?? document
  return { evidence: { type: 'nitro', v: 1, document: toHex(whole) }, root: toHex(hash), roots: hash }
}
