import { counted } from './format.ts'
import { faultWords } from './backing.ts'
import { ask } from './dialog.ts'
import { el } from './element.ts'
import type { View } from './page.ts'
import { button, select, refusedIn } from './parts.ts'
import { timeOf } from './running.ts'

interface Asked {
  readonly models: number | null
  readonly fault: string | null
  readonly ms: number
}

const rests: readonly (readonly [seconds: number, words: string])[] = [
  [60, '1 minute'],
  [600, '10 minutes'],
  [3_600, '1 hour'],
]

const askedWords = ({ models, fault, ms }: Asked): string =>
  fault === null
    ? `Lists ${counted(models ?? 0, 'model')}, in ${timeOf(ms)}.`
    : `No list: ${faultWords(fault)}, after ${timeOf(ms)}.`

const processWords = (processes: number): string => (processes === 1 ? '' : ` in ${processes} processes`)

/** What an operator may do with a backend; `place` shows how it ended. */
export const backingActs = (
  { gateway }: View,
  backend: string,
  place: HTMLElement,
  again: () => Promise<void>,
): readonly HTMLElement[] => {
  const act = <T>(name: string, body?: object) =>
    gateway.ask<T>('POST', `/admin/backends/${encodeURIComponent(backend)}/${name}`, body)
  const say = async (words: string): Promise<void> => {
    place.replaceChildren(el('p', { role: 'status' }, words))
    await again()
  }
  const refused = refusedIn(place)
  const choice = select({ 'aria-label': 'How long the backend rests' }, rests)
  const rest = async (): Promise<void> => {
    const { processes } = await act<{ processes: number }>('rest', { seconds: Number(choice.value) })
    await say(`${backend} rests${processWords(processes)}.`)
  }
  const askNow = async (): Promise<void> => {
    place.replaceChildren(el('p', { role: 'status' }, 'Asking'))
    await say(askedWords(await act<Asked>('ask')))
  }
  const wake = async (): Promise<void> => {
    const { processes } = await act<{ processes: number }>('wake')
    await say(`${backend} is awake${processWords(processes)}.`)
  }
  const question = () =>
    ask({
      title: `Rest ${backend}?`,
      words: el('p', {}, 'No call goes to it for ', choice, '. Models without another backend answer 503 meanwhile.'),
      yes: 'Rest',
      act: rest,
    })
  return [
    button('Ask now', () => askNow().catch(refused)),
    button('Wake', () => wake().catch(refused)),
    button('Rest', question, 'danger'),
  ]
}
