import type { Chained } from './answers.ts'
import { type Child, el } from './element.ts'
import { heading, copied, link, note, section, warning } from './parts.ts'

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
export const weightsForm = (it: Chained): readonly Child[] => {
  const place = el('div')
  const inputs = it.chain.map(({ backend, weight }, at) =>
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
    place.replaceChildren(
      texts.every(isWeight)
        ? copied(weightsConfig(it, texts.map(Number)), 'The change of the configuration')
        : warning('A weight is a number from 0.'),
    )
  }
  draw()
  return [
    heading(it.model, link('All chains', '#/models')),
    section(
      'Weights',
      el(
        'div',
        { class: 'weights' },
        it.chain.map(({ backend, model, priority }, at) =>
          el(
            'div',
            { class: 'field' },
            el('label', { for: `weight-${at}` }, backend),
            inputs[at] ?? null,
            el('small', {}, `${model}, priority ${priority}`),
          ),
        ),
      ),
    ),
    section('Change of the configuration', place),
    note('Write this into the configuration file and reload it. Nothing changes here.'),
  ]
}
