import type { Chained } from './answers.ts'
import { type Child, el, div } from './element.ts'
import type { View } from './page.ts'
import { button, heading, copied, link, note, section, stack, warning } from './parts.ts'
import { type Lines, tried } from './trial.ts'

/** The part of a configuration file that gives a model these weights. */
export const weightsConfig = ({ model, chain }: Chained, weights: readonly number[]): string => {
  const upstreams = chain.map(({ backend, model: own, priority, context_tokens }, at) => ({
    provider: backend,
    ...(own !== model && { model: own }),
    ...(context_tokens !== null && { context_tokens }),
    weight: weights[at] ?? 1,
    priority,
  }))
  return JSON.stringify({ models: { [model]: { upstreams } } }, null, 2)
}

const isWeight = (text: string): boolean => text !== '' && Number.isFinite(Number(text)) && Number(text) >= 0

/** Weights to try, with the change of the configuration that makes them so. */
export const weightsForm = (view: View, chained: Chained): readonly Child[] => {
  const [place, found] = [stack(), stack()]
  let change = ''
  const check = async (): Promise<void> => {
    found.replaceChildren(await tried(view, JSON.parse(change) as Lines, chained.model))
  }
  const inputs = chained.chain.map(({ backend, weight }, at) =>
    el('input', {
      type: 'number',
      min: 0,
      step: 'any',
      value: weight,
      id: `weight-${at}`,
      'aria-label': `Weight of ${backend}`,
      on: { input: () => draw() },
    }),
  )
  const draw = (): void => {
    const texts = inputs.map(({ value }) => value)
    const isSound = texts.every(isWeight)
    change = isSound ? weightsConfig(chained, texts.map(Number)) : ''
    found.replaceChildren()
    place.replaceChildren(
      isSound ? copied(change, 'The change of the configuration') : warning('A weight is a number from 0.'),
      ...(view.sight.steers && isSound ? [div('actions', button('Check and call', check))] : []),
    )
  }
  draw()
  return [
    heading(chained.model, link('All chains', '#/models')),
    section(
      'Weights',
      div(
        'weights',
        chained.chain.map(({ backend, model, priority }, at) =>
          div(
            'field',
            el('label', { for: `weight-${at}` }, backend),
            inputs[at] ?? null,
            el('small', {}, `${model}, priority ${priority}`),
          ),
        ),
      ),
    ),
    section('Change of the configuration', place),
    found,
    note('Write this into the configuration file and reload it. Nothing changes here.'),
  ]
}
