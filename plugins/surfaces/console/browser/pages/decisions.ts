import type { Decided } from '../decision-answers.ts'
import { decisionCases } from '../decision-cases.ts'
import { decisionConfig, decisionSnippets } from '../decision-code.ts'
import { type Draft, bodyOf, flawOf } from '../decision-draft.ts'
import { decisionForm } from '../decision-form.ts'
import { type AskedModel, decisionResults } from '../decision-results.ts'
import { decisionTemplates } from '../decision-templates.ts'
import { el, div } from '../element.ts'
import { Refused, curlOf } from '../gateway.ts'
import type { Page, View } from '../page.ts'
import {
  button,
  copied,
  heading,
  note,
  refusal,
  section,
  stack,
  toldPlace,
  warning,
  select,
  fieldset,
  folded,
} from '../parts.ts'
import { type Listed, modelsOf } from '../sight.ts'

/** Models at once: a key may ask for four decisions at a time. */
const mostModels = 4

/** Which models are asked, in the order in which they were chosen: at first those of the address. */
const modelChoice = (models: readonly Listed[], wanted: readonly string[], changed: () => void) => {
  const named = wanted.flatMap((name) => models.filter(({ model }) => model === name))
  let chosen = (named.length > 0 ? [...new Set(named)] : models).slice(0, named.length > 0 ? mostModels : 1)
  const turn = (model: Listed, isChosen: boolean): void => {
    const others = chosen.filter((other) => other !== model)
    chosen = isChosen ? [...others, model] : others
    draw()
    changed()
  }
  const boxes = models.map((model) => {
    const box = el('input', {
      type: 'checkbox',
      checked: chosen.includes(model),
      on: { change: () => turn(model, box.checked) },
    })
    return box
  })
  const draw = (): void => {
    for (const box of boxes) box.disabled = !box.checked && chosen.length >= mostModels
  }
  draw()
  const root = fieldset(
    `Models, up to ${mostModels} side by side`,
    div(
      'checks',
      models.map(({ model }, at) =>
        el('label', { class: 'check' }, boxes[at] ?? null, el('span', { class: 'label' }, model)),
      ),
    ),
  )
  return { root, read: () => chosen }
}

const templateChoice = (chosen: string | null, put: (draft: Draft) => void): HTMLElement => {
  const choice = select(
    { 'aria-label': 'Template', on: { change: () => turn(choice.value) } },
    decisionTemplates.map(({ name, words }) => [name, words]),
    chosen,
  )
  const turn = (name: string): void => {
    const chosenTemplate = decisionTemplates.find((template) => template.name === name) ?? decisionTemplates[0]
    if (chosenTemplate !== undefined) put(chosenTemplate.draft)
  }
  turn(choice.value)
  return choice
}

/** Each model's answer, or why it gave none. Throws what ends the session. */
const askedOf = async ({ gateway }: View, path: string, draft: Draft, models: readonly Listed[]) =>
  Promise.all(
    models.map(async (listed): Promise<AskedModel> => {
      try {
        return { listed, decided: await gateway.post<Decided>(path, bodyOf(draft, listed.model)), fault: null }
      } catch (fault) {
        if (fault instanceof Refused && fault.status === 401) throw fault
        return { listed, decided: null, fault }
      }
    }),
  )

/** The question as programs ask it, and the part of a configuration. */
const codeSection = () => {
  const names = ['curl', 'JavaScript', 'Python', 'Configuration'] as const
  const places = names.map(() => el('div'))
  const root = section(
    'For a program',
    names.map((name, at) => folded(name, places[at] ?? null)),
  )
  const draw = (snippets: readonly { readonly name: string; readonly text: string }[], flaw: string | null): void => {
    for (const [at, name] of names.entries()) {
      const chosenSnippet = snippets.find((snippet) => snippet.name === name)
      places[at]?.replaceChildren(
        chosenSnippet === undefined ? note(flaw ?? '') : copied(chosenSnippet.text, `${name} of this question`),
      )
    }
  }
  return { root, draw }
}

const drawn = (view: View, path: string, models: readonly Listed[]) => {
  const { gateway, signal } = view
  let threshold: number | null = null
  const told = toldPlace()
  const results = stack()
  const code = codeSection()
  const changed = (): void => {
    const draft = form.read()
    const names = choice.read().map(({ model }) => model)
    const flaw = flawOf(draft)
    const config = { name: 'Configuration', text: decisionConfig(names, threshold) }
    const snippets = flaw === null ? decisionSnippets(gateway.base, path, bodyOf(draft, names[0] ?? 'MODEL')) : []
    code.draw([...snippets, config], flaw)
    cases.draw()
  }
  const ask = async (): Promise<void> => {
    const [draft, chosen] = [form.read(), choice.read()]
    const flaw = chosen.length === 0 ? 'No model is chosen.' : flawOf(draft)
    if (flaw !== null) return results.replaceChildren(warning(flaw))
    told.textContent = 'Asking'
    const models = await askedOf(view, path, draft, chosen)
    if (signal.aborted) return
    const curl = curlOf(gateway.base, path, 'POST', bodyOf(draft, chosen[0]?.model ?? ''))
    results.replaceChildren(...decisionResults(draft, models, curl))
    told.textContent = `Answered by ${models.filter(({ decided }) => decided !== null).length} of ${models.length}`
  }
  const begin = button('Ask', () => ask().catch(failed), 'main')
  const failed = (error: unknown): void => {
    if (signal.aborted) return
    if (error instanceof Refused && error.status === 401) return view.leave(error)
    told.textContent = ''
    results.replaceChildren(refusal(error))
  }
  const choice = modelChoice(models, view.query.getAll('model'), () => changed())
  const form = decisionForm(() => changed())
  const cases = decisionCases({
    gateway,
    path,
    signal,
    read: () => ({ draft: form.read(), models: choice.read() }),
    found: (price) => {
      threshold = price
      changed()
    },
    leave: (why) => view.leave(why),
  })
  const template = templateChoice(view.query.get('template'), form.put)
  const editor = section('Question', choice.root, el('hr'), form.root, div('actions', begin, told))
  return { template, editor, results, cases: cases.root, code: code.root }
}

export const decisions: Page = {
  name: 'decisions',
  title: 'Decisions',
  sees: ({ decides }) => decides,
  async show(view) {
    const models = (await modelsOf(view.gateway, view.sight)).filter(({ decides }) => decides)
    const path = view.sight.links['decisions']
    if (models.length === 0 || path === undefined)
      return [heading('Decisions'), note('No model decides for this key. A chat model does with "decide": true.')]
    const { template, editor, results, cases, code } = drawn(view, path, models)
    return [
      heading('Decisions', template),
      div('halves', editor, stack(results, cases), code),
      note(
        'What stands here is in this tab alone, and is gone when you leave the page. Every question is a call on the bill of your key.',
      ),
    ]
  },
}
