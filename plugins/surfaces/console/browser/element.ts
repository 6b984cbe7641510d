export type Child = Node | string | number | null | false | readonly Child[]

type Listeners = { readonly [Name in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Name]) => void }

/** Attributes by their names in HTML; `true` stands for an empty one, false and null for none. */
export interface Attributes {
  readonly on?: Listeners
  readonly [name: string]: string | number | boolean | null | undefined | Listeners
}

/** Attributes that can run, load or send something; only `own` addresses are given to a `href`. */
const barred = /^(?:on|src|srcdoc|action|formaction|style|xlink)/

const isOwn = (address: string): boolean => /^(?:#|blob:|\/(?!\/)|\.)/.test(address)

const fill = (node: Element, { on = {}, ...attributes }: Attributes, children: readonly Child[]): void => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false || typeof value === 'object') continue
    if (barred.test(name) || (name === 'href' && !isOwn(String(value)))) throw new TypeError('A barred attribute')
    node.setAttribute(name, value === true ? '' : String(value))
  }
  for (const [name, listener] of Object.entries(on)) node.addEventListener(name, listener as EventListener)
  append(node, children)
}

/** Text stays text: nothing here reads markup. */
export const append = (node: Element, children: readonly Child[]): void => {
  for (const child of children) {
    if (child === null || child === false) continue
    // Forms and selects have a length too.
    if (child instanceof Node) node.append(child)
    else if (typeof child === 'object') append(node, child)
    else node.append(String(child))
  }
}

export const el = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] => {
  const node = document.createElement(name)
  fill(node, attributes, children)
  return node
}

export const div = (kind: string, ...children: readonly Child[]): HTMLDivElement => el('div', { class: kind }, children)

export const svg = <Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[Name] => {
  const node = document.createElementNS('http://www.w3.org/2000/svg', name)
  fill(node, attributes, children)
  return node
}

let made = 0

/** An id that no other element has. */
export const freshId = (name: string): string => `${name}-${++made}`
