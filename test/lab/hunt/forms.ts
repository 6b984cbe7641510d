import { form, formOf } from '../../../plugins/providers/shared/form.ts'
import type { Spoiled } from './bodies.ts'

type Fields = readonly (readonly [name: string, value: string])[]

const file = { name: 'a.wav', mime: 'audio/wav', bytes: new Uint8Array(64) }

/** The boundary of every form here, which stands in no field. */
export const formType = form([], file).type

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

const spread = (sample: Readonly<Record<string, unknown>>): Fields =>
  Object.entries(sample).flatMap(([name, value]) => [value].flat().map((member) => [name, textOf(member)] as const))

/** The form of a sample, one of whose fields is a file: valid, and each of its other fields spoiled. */
export const spoiledForms = (sample: Readonly<Record<string, unknown>>, field = 'file'): readonly Spoiled[] => {
  const fields = spread(sample).filter(([name]) => name !== field)
  const made = (fields: Fields, bytes = file.bytes): Buffer =>
    Buffer.from(formOf(fields, [{ ...file, field, bytes }]).body)
  const grown = (name: string, text: (size: number) => Buffer): Spoiled => ({ name, grows: true, text })
  const many = (size: number, one: (at: number) => readonly [string, string]) =>
    Array.from({ length: Math.max(1, Math.floor(size / 70)) }, (_, at) => one(at))
  return [
    grown('valid', (size) => made(fields, new Uint8Array(Math.max(1, size - 1_000)))),
    grown('body wide fields', (size) => made([...fields, ...many(size, (at) => [`f${at}`, ''])])),
    grown('body cut', (size) => made(fields, new Uint8Array(size)).subarray(0, size >> 1)),
    { name: 'file gone', grows: false, text: () => Buffer.from(`--${formType.split('=')[1]}--\r\n`) },
    ...fields.flatMap(([name]) => {
      const others = fields.filter(([text]) => text !== name)
      return [
        grown(`${name} long`, (size) => made([...others, [name, 'a'.repeat(size)]])),
        grown(`${name} twice`, (size) => made([...fields, ...many(size, () => [name, 'a'])])),
        { name: `${name} gone`, grows: false, text: () => made(others) },
      ]
    }),
  ]
}
