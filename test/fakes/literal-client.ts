import { randomBytes } from 'node:crypto'
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js'
import { aeskwp } from '@noble/ciphers/aes.js'
import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { ml_kem768 as mlKem } from '@noble/post-quantum/ml-kem.js'

/**
 * A client that knows the text of the interface alone, and shares no code with the gateway: hex strings, ML-KEM,
 * XChaCha20-Poly1305 under the shared secret and the given nonce. It trusts the keys that the gateway serves, where a
 * client for real data verifies their evidence first (examples/raw-sealed-client.ts).
 */

export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
export const bytesOf = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, 'hex'))
const textOf = (bytes: Uint8Array): string => new TextDecoder('utf-8', { fatal: true }).decode(bytes)

export const seal = (key: Uint8Array, nonce: Uint8Array, plain: Uint8Array | string): string =>
  hexOf(xchacha20poly1305(key, nonce).encrypt(typeof plain === 'string' ? new TextEncoder().encode(plain) : plain))

/** Throws for what was sealed under another key or nonce. */
export const open = (key: Uint8Array, nonce: Uint8Array, sealed: string): Uint8Array =>
  xchacha20poly1305(key, nonce).decrypt(bytesOf(sealed))

/** A nonce, and behind it what was sealed with it: the form of everything that is stored. */
export const stored = (key: Uint8Array, plain: Uint8Array | string): string => {
  const nonce = random(24)
  return hexOf(nonce) + seal(key, nonce, plain)
}

export const random = (length: number): Uint8Array => new Uint8Array(randomBytes(length))

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: any
}

export interface Call {
  readonly method?: string
  readonly body?: unknown
  readonly form?: FormData
  readonly headers?: Readonly<Record<string, string>>
}

/** One event of a stream, with what was sealed in it. */
export interface StreamEvent {
  readonly event: string
  readonly data: string
  readonly opened: any
}

/** The shared secret with an enclave, and the cipher text that tells it. */
export interface Agreement {
  readonly secret: Uint8Array
  readonly cipherText: string
}

/** A file of the client: its key under the KEK, and its record. */
export interface Kept {
  readonly dek: Uint8Array
  readonly record: any
}

/** What a file of the interface has, and no more. */
export interface Labels {
  readonly name: string
  readonly mime: string
}

export type Literal = ReturnType<typeof literalClient>

export const literalClient = (base: string, apiKey: string) => {
  /** 32 bytes that never leave the client. */
  const kek = random(32)
  const ragDek = random(32)

  const send = async (path: string, { method, body, form, headers }: Call = {}): Promise<Answer> => {
    const sent = form ?? (body === undefined ? undefined : JSON.stringify(body))
    const answer = await fetch(base + path, {
      method: method ?? (sent === undefined ? 'GET' : 'POST'),
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(sent !== undefined && { body: sent }),
    })
    const text = await answer.text()
    const isJson = /json/.test(answer.headers.get('content-type') ?? '')
    return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text }
  }

  const agree = async (): Promise<Agreement> => {
    const { body } = await send('/rvenc/keys')
    const { public_key } = body.keys.find(({ kem }: { kem: string }) => kem === 'ml-kem-768')
    const { cipherText, sharedSecret } = mlKem.encapsulate(bytesOf(public_key))
    return { secret: sharedSecret, cipherText: hexOf(cipherText) }
  }

  /** Sealed JSON with the cipher text and the nonce beside it. */
  const sealed = (agreement: Agreement, field: string, params: unknown) => {
    const nonce = random(24)
    return {
      cipherText: agreement.cipherText,
      [field]: seal(agreement.secret, nonce, JSON.stringify(params)),
      nonce: hexOf(nonce),
    }
  }

  const opened = ({ secret }: Agreement, { encryptedResponse, nonce }: { encryptedResponse: string; nonce: string }) =>
    JSON.parse(textOf(open(secret, bytesOf(nonce), encryptedResponse)))

  /** A key for the enclave alone, under the shared secret. */
  const part = ({ secret }: Agreement, field: string, nonceField: string, key: Uint8Array) => {
    const nonce = random(24)
    return { [field]: seal(secret, nonce, key), [nonceField]: hexOf(nonce) }
  }

  /** The answer of a tool: its opened result, or the code with which the enclave refuses it. */
  const tool = async (id: string, params: unknown, file: Kept | null = null, more: object = {}): Promise<Answer> => {
    const agreement = await agree()
    const beside = {
      ...(file && part(agreement, 'encryptedFileDek', 'fileNonce', file.dek)),
      ...(id === 'searchRag' && part(agreement, 'encryptedRagDek', 'ragDekNonce', ragDek)),
      ...more,
    }
    const answer = await send(`/tools/${id}`, { body: { ...sealed(agreement, 'encryptedParams', params), ...beside } })
    const data = answer.body?.data
    return typeof data?.encryptedResponse === 'string' ? { ...answer, body: opened(agreement, data) } : answer
  }

  /** The answer of a sealed chat: its opened result, or the opened code of a failure. */
  const chat = async (params: object): Promise<Answer> => {
    const agreement = await agree()
    const answer = await send('/rvenc/chat/completions', { body: sealed(agreement, 'encryptedInference', params) })
    const told = answer.body?.data ?? answer.body
    return typeof told?.encryptedResponse === 'string' ? { ...answer, body: opened(agreement, told) } : answer
  }

  /** The events of a sealed chat as a stream; what is sealed in them is opened. */
  const chatStream = async (params: object): Promise<readonly StreamEvent[]> => {
    const agreement = await agree()
    const body = sealed(agreement, 'encryptedInference', { ...params, stream: true })
    const answer = await send('/rvenc/chat/completions', { body })
    if (answer.status !== 200) throw new Error(`The stream was refused: ${JSON.stringify(answer.body)}`)
    const info = new TextEncoder().encode('rvenc/1 s2c/stream')
    const key = hkdf(sha256, agreement.secret, bytesOf(String(body.nonce)), info, 32)
    return String(answer.body)
      .split('\n\n')
      .filter((event) => event !== '')
      .map((text) => {
        const [, event = '', data = ''] = /^event: (\w+)\ndata: (.*)$/s.exec(text) ?? []
        if (!/^[0-9a-f]{80,}$/.test(data)) return { event, data, opened: null }
        const words = textOf(open(key, bytesOf(data.slice(0, 48)), data.slice(48))).trim()
        return { event, data, opened: words === '' ? null : JSON.parse(words) }
      })
  }

  /** A sealed sound; `beside` stands outside the seal. The body of the answer is what was sealed in it. */
  const hear = async (
    sound: Uint8Array,
    params: unknown,
    beside: object = {},
    verb: 'transcriptions' | 'translations' = 'transcriptions',
  ): Promise<Answer> => {
    const agreement = await agree()
    const [nameNonce, fileNonce] = [random(24), random(24)]
    const body = {
      ...sealed(agreement, 'encryptedInference', params),
      encryptedFileName: seal(agreement.secret, nameNonce, 'a.wav'),
      fileNameNonce: hexOf(nameNonce),
      encryptedFile: seal(agreement.secret, fileNonce, sound),
      fileNonce: hexOf(fileNonce),
      ...beside,
    }
    const answer = await send(`/rvenc/audio/${verb}`, { body })
    const data = answer.body?.data
    return typeof data?.encryptedResponse === 'string' ? { ...answer, body: opened(agreement, data) } : answer
  }

  const wrapped = (dek: Uint8Array): string => hexOf(aeskwp(kek).encrypt(dek))

  /** The fields of an upload, as the interface names them. */
  const fileFields = (dek: Uint8Array, { name, mime }: Labels, content: Uint8Array) => ({
    encrypted_content: stored(dek, content),
    encrypted_name: stored(dek, name),
    client_hash: hexOf(random(32)),
    kid: 'kek-1',
    wrapped_dek: wrapped(dek),
    mime_type: stored(dek, mime),
  })

  const upload = async (content: Uint8Array, labels: Labels, more: object = {}): Promise<Kept> => {
    const dek = random(32)
    const { status, body } = await send('/files/encrypted/upload', {
      body: { ...fileFields(dek, labels, content), ...more },
    })
    if (status !== 200) throw new Error(`The upload was refused: ${JSON.stringify(body)}`)
    return { dek, record: body.data }
  }

  const indexItem = (agreement: Agreement, { dek, record }: Kept): Readonly<Record<string, string>> => ({
    file_id: record.id,
    s3_r2_path: record.file_path,
    cipher_text: agreement.cipherText,
    ...part(agreement, 'encrypted_file_dek', 'file_nonce', dek),
    ...part(agreement, 'encrypted_rag_dek', 'rag_dek_nonce', ragDek),
  })

  return {
    kek,
    ragDek,
    send,
    agree,
    sealed,
    opened,
    part,
    tool,
    hear,
    chat,
    chatStream,
    wrapped,
    fileFields,
    upload,
    indexItem,
  }
}
