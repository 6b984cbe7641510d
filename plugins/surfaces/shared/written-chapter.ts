import type { GenericSchema } from 'valibot'
import type { Chapter, Operation, Sentences } from '../../../core/ports/chapter.ts'

/** What stands in the envelope of an example, beside what every envelope has. */
interface Enveloped {
  readonly data: unknown
  readonly status?: number
  readonly message?: string
}

/** An operation as a file of JSON has it: sentences and examples, without shapes. */
type WrittenOperation = Omit<Operation, 'shape'> & { readonly enveloped?: Enveloped }

type WrittenOperations = Readonly<Record<string, WrittenOperation>>

/** A chapter as a file of JSON has it. */
export type WrittenChapter = Omit<Chapter, 'operations'> & { readonly operations: WrittenOperations }

/** What the code adds to an operation: shapes, and what several operations share. */
type Added = WrittenOperation & { readonly shape?: GenericSchema }

const envelope = {
  status: 200,
  error: null,
  message: null,
  env: 'production',
  log: { request_id: '01a1fc7c-78dd-71b9-a66b-ea0f67dc77a8' },
  validator: null,
  support_id: '01a1fc7c-78dd-71b9-a66b-ea0f67dc77a8',
}

/** The operations of a file with what the code adds. The compiler knows the names of both. */
export const operationsOf = <W extends WrittenOperations>(
  written: W,
  added: { readonly [name in keyof W]?: Added } = {},
): { readonly [name in keyof W]: Operation } => {
  const whole = ([name, operation]: [string, WrittenOperation]) => {
    const { enveloped, ...rest } = { ...operation, ...added[name] }
    return [name, { ...rest, ...(enveloped && { answer: { ...envelope, ...enveloped } }) }] as const
  }
  return Object.fromEntries(Object.entries(written).map(whole)) as { [name in keyof W]: Operation }
}

/** A chapter of a file with what the code adds to its operations. */
export const chapterOf = <W extends WrittenChapter>(
  { name, about, words, operations }: W,
  added: { readonly [name in keyof W['operations']]?: Added } = {},
): Chapter => ({ name, about, words, operations: operationsOf(operations, added) })

/** The same sentences for the members of several parents. */
export const under = (parents: readonly string[], words: Sentences): Sentences =>
  Object.fromEntries(
    parents.flatMap((parent) => Object.entries(words).map(([name, sentence]) => [`${parent}.${name}`, sentence])),
  )
