import type { Client } from '../../../../sealed/client/client.ts'
import { el, freshId, div } from '../element.ts'
import { form, note, section } from '../parts.ts'
import { type Witness, doing, labelled } from './doing.ts'

type Spoken = Readonly<Record<'role' | 'content', string>>

/** The answer of a model as it comes, in pieces. */
async function* spoken(
  client: Client,
  model: string,
  messages: readonly Spoken[],
  signal: AbortSignal,
): AsyncGenerator<string> {
  const chunks = await client.chat.completions.create({ model, messages, stream: true }, { signal })
  for await (const { choices } of chunks) {
    const piece = choices[0]?.delta?.content
    if (typeof piece === 'string') yield piece
  }
}

export interface Chatting {
  readonly client: () => Client
  readonly model: () => string
  readonly witness: Witness
  readonly signal: AbortSignal
}

/** A conversation that stands in this tab alone. */
export const chatPane = ({ client, model, witness, signal }: Chatting): HTMLElement => {
  const id = freshId('prompt')
  const turns: Spoken[] = []
  const log = el('ol', { class: 'said', 'aria-live': 'polite' })
  const prompt = el('textarea', { id, rows: 3, required: true, autocomplete: 'off' })
  const { told, run } = doing(signal)
  const shows = ({ role, content }: Spoken): { readonly line: HTMLElement; readonly words: HTMLElement } => {
    const words = el('p', {}, content)
    const line = el('li', { class: role }, el('b', {}, role === 'user' ? 'You' : 'Model'), words)
    log.append(line)
    return { line, words }
  }
  const send = async (): Promise<void> => {
    const question: Spoken = { role: 'user', content: prompt.value }
    witness.begins(question.content)
    const lines = [...turns, question]
    const [mine, theirs] = [shows(question), shows({ role: 'assistant', content: '' })]
    prompt.value = ''
    let answer = ''
    try {
      for await (const piece of spoken(client(), model(), lines, signal)) theirs.words.textContent = answer += piece
    } catch (error) {
      // What was not answered is no part of the conversation.
      for (const { line } of [mine, theirs]) line.remove()
      // What the reader writes meanwhile stays.
      if (prompt.value === '') prompt.value = question.content
      throw error
    }
    witness.ends(answer)
    turns.push(question, { role: 'assistant', content: answer })
  }
  return section(
    'Chat',
    log,
    form(
      () => run(send),
      labelled('Message', id, prompt),
      ...(model() === '' ? [note('No model of this gateway is served sealed.')] : []),
      told,
      div('actions', el('button', { type: 'submit', class: 'main', disabled: model() === '' }, 'Send sealed')),
    ),
  )
}
