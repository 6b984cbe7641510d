import type { AnswerHeaders, AnswerLine, AnswerReader } from '../../../../core/ports/platform.ts'

/**
 * What the client of HTTP holds of a call. The client's queue outlives the call in old memory, and would keep all of the
 * call alive until the next full collection.
 */
export class Line implements AnswerReader {
  #call: AnswerReader | null

  constructor(call: AnswerReader) {
    this.#call = call
  }

  onRequestStart(line: AnswerLine): void {
    this.#call?.onRequestStart(line)
  }

  onResponseStart(line: AnswerLine, status: number, headers: AnswerHeaders): void {
    this.#call?.onResponseStart(line, status, headers)
  }

  onResponseData(line: AnswerLine, part: Uint8Array): void {
    this.#call?.onResponseData(line, part)
  }

  onResponseEnd(line: AnswerLine): void {
    const call = this.#call
    this.#call = null
    call?.onResponseEnd(line)
  }

  onResponseError(line: AnswerLine, error: Error): void {
    const call = this.#call
    this.#call = null
    call?.onResponseError(line, error)
  }
}
