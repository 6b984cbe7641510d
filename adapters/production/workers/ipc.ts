/** A message between two processes: a question or its answer. */
export interface IpcMessage {
  readonly id: number
  readonly ask?: string
  readonly value?: unknown
  /** The reason for a missing answer. */
  readonly flaw?: string
}

/** Each answer trusts the other process, which runs the same code, with the type of its value. */
export type IpcAnswers = Readonly<Record<string, (value: never) => unknown>>

/** One end of the line between a leader and a worker. */
export interface IpcChannel {
  /** Rejects with the other side's reason, and when the process ends. Only the caller limits the time. */
  ask<T>(question: string, value?: unknown): Promise<T>
  /** Takes a letter from the other side; one with an unknown id is dropped. */
  hear(letter: IpcMessage): void
  /** The other process is gone: open questions fail. */
  close(): void
}

/** Questions and answers in both directions, over a channel that keeps the order of letters. */
export const ipcChannel = (send: (letter: IpcMessage) => void, answers: IpcAnswers): IpcChannel => {
  const open = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  let last = 0

  const answer = async ({ id, ask, value }: IpcMessage): Promise<void> => {
    try {
      const known = ask === undefined ? undefined : answers[ask]
      if (known === undefined) throw new Error('The other process knows no such question')
      send({ id, value: await known(value as never) })
    } catch (error) {
      send({ id, flaw: error instanceof Error ? error.message : String(error) })
    }
  }

  return {
    ask: (question, value) =>
      new Promise((resolve, reject) => {
        const id = ++last
        open.set(id, { resolve, reject })
        send({ id, ask: question, value })
      }),
    hear(letter) {
      if (letter.ask !== undefined) return void answer(letter)
      const { id, value, flaw } = letter
      if (flaw === undefined) open.get(id)?.resolve(value)
      else open.get(id)?.reject(new Error(flaw))
      open.delete(id)
    },
    close() {
      for (const { reject } of open.values()) reject(new Error('The process ended'))
      open.clear()
    },
  }
}
