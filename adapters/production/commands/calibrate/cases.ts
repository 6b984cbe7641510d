import { readFile, stat } from 'node:fs/promises'
import { readOrdered } from '../../../../core/dialects/json.ts'
import { isOpen } from '../../../../plugins/shared/decisions/decisions.ts'
import { parseDecision } from '../../../../plugins/shared/decisions/typed-decision.ts'
import { BadRequest } from '../../../../core/errors.ts'
import type { OrderedJson, Question } from '../../../../core/ports/upstream.ts'

/** A question whose right answer is known. */
export interface Case {
  readonly state: OrderedJson
  readonly question: Question
  /** The place of the right answer among the options, levels or outcomes; yes is 0 and no is 1. */
  readonly truth: number
}

/** Bytes, and cases: the whole file stands in memory. */
const mostBytes = 64 * 1024 * 1024
const mostCases = 100_000

/** One case a line, each once. Throws with the line of what is no case. */
export const readCases = async (file: string): Promise<readonly Case[]> => {
  const { size } = await stat(file)
  if (size > mostBytes) throw new Error(`--cases takes a file of ${mostBytes} bytes at most`)
  const lines = (await readFile(file, 'utf8')).split('\n').map((line) => line.trim())
  // A case in both halves would be tested on what it was fitted to.
  const seen = new Set<string>()
  const cases = lines.flatMap((line, at) => {
    if (line === '' || seen.has(line)) return []
    seen.add(line)
    return [caseOf(line, at + 1)]
  })
  if (cases.length > mostCases) throw new Error(`--cases takes ${mostCases} cases at most`)
  return cases
}

/** The parser of requests reads the case too, so that no case passes which a caller could not ask. */
const caseOf = (line: string, number: number): Case => {
  try {
    const row = readOrdered(line)
    if (!(row instanceof Map)) throw new BadRequest('A case is an object')
    const { state, questions } = parseDecision(
      new Map<string, OrderedJson>([
        ['model', '-'],
        ['state', row.get('state') ?? null],
        ['questions', new Map([['asked', row.get('question') ?? null]])],
      ]),
    )
    const { question } = questions[0]!
    const truth = placeOf(question, row.get('answer'))
    if (truth < 0 || !isOpen(question)) throw new BadRequest('answer: expected one of two options or more')
    return { state, question, truth }
  } catch (cause) {
    if (!(cause instanceof BadRequest)) throw cause
    throw new Error(`line ${number} of the cases: ${cause.message}`, { cause })
  }
}

/** Below 0 for what is no answer to the question. */
const placeOf = (question: Question, answer: OrderedJson | undefined): number => {
  switch (question.type) {
    case 'noul':
      return typeof answer === 'boolean' ? Number(!answer) : -1
    case 'score':
      return typeof answer === 'number' && answer in question.levels ? answer : -1
    case 'choice':
      return question.options.findIndex(({ label }) => label === answer)
  }
}
