import * as v from 'valibot'
import type { Form } from '../../../core/http/form.ts'

/** `true` or `false`, as a form writes it. */
export const flag = v.pipe(
  v.optional(v.picklist(['true', 'false', '']), 'false'),
  v.transform((text) => text === 'true'),
)

/** The first value of each field; a field without a value is absent. */
export const fieldsOf = <Name extends string>({ fields }: Form, names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, fields.get(name)?.[0] || undefined])) as Readonly<
    Record<Name, string | undefined>
  >

/** Every field that is not named, in the order of the form. */
export const others = ({ fields }: Form, names: readonly string[]): readonly (readonly [string, string])[] =>
  [...fields].flatMap(([name, values]) => (names.includes(name) ? [] : values.map((value) => [name, value] as const)))
