import { parentPort } from 'node:worker_threads'
import { BadRequest, type Validator } from '../errors.ts'
import { decodeJson, type Reading, type Relayed } from './decode-json.ts'

/** An error loses its class on the way between threads: its constant words travel instead. */
export type Read =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'refused'; readonly message: string; readonly validator: Validator | null }

const read = (reading: Reading): Read => {
  try {
    const value = decodeJson(reading)
    // Texts of a long body stay here: they would cross to the other thread beside the value, at twice its cost.
    return { kind: 'value', value: reading.form === 'relayed' ? { ...(value as Relayed), members: null } : value }
  } catch (error) {
    const { message, validator } = error instanceof BadRequest ? error : new BadRequest('Malformed JSON')
    return { kind: 'refused', message, validator }
  }
}

parentPort?.on('message', (reading: Reading) => parentPort?.postMessage(read(reading)))
