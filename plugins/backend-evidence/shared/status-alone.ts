import type { Answer } from '../../../core/ports/platform.ts'

const kept: readonly string[] = ['retry-after', 'retry-after-ms', 'x-request-id']

/** A refusal in the clear: its status and its times count, and its text is nobody's. */
export const statusAlone = (answer: Answer): Answer => {
  answer.discard()
  return {
    status: answer.status,
    header: (name) => (kept.includes(name) ? answer.header(name) : null),
    body: (async function* () {})(),
    discard: () => undefined,
  }
}
