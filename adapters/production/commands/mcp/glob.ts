/** What one character of a name may be. */
type Token = '*' | ((character: string) => boolean)

const named: Readonly<Record<string, RegExp>> = {
  alpha: /[a-z]/i,
  digit: /[0-9]/,
  alnum: /[a-z0-9]/i,
  upper: /[A-Z]/,
  lower: /[a-z]/,
  space: /\s/,
  punct: /[!-/:-@[-`{-~]/,
  xdigit: /[0-9a-f]/i,
}

/** A set in brackets that begins at `at`; null when nothing closes it. */
const setOf = (glob: string, at: number): { readonly token: Token; readonly end: number } | null => {
  const members: ((it: string) => boolean)[] = []
  const inverted = '!^'.includes(glob[at + 1] ?? ' ')
  const first = at + (inverted ? 2 : 1)
  for (let i = first; i < glob.length; i++) {
    if (glob[i] === ']' && i > first)
      return { token: (it) => members.some((member) => member(it)) !== inverted, end: i }
    const kind = /^\[:(\w+):\]/.exec(glob.slice(i, i + 12))
    if (kind !== null) {
      const pattern = named[kind[1] ?? '']
      if (pattern === undefined) return null
      members.push((it) => pattern.test(it))
      i += kind[0].length - 1
      continue
    }
    if (glob[i] === '\\') i++
    const low = glob[i] ?? ''
    let high = low
    if (glob[i + 1] === '-' && glob[i + 2] !== undefined && glob[i + 2] !== ']') {
      i += glob[i + 2] === '\\' ? 3 : 2
      high = glob[i] ?? ''
    }
    members.push((it) => low <= it && it <= high)
  }
  return null
}

/** Null for a pattern that matches nothing. */
const tokensOf = (glob: string): readonly Token[] | null => {
  const tokens: Token[] = []
  for (let at = 0; at < glob.length; at++) {
    const character = glob[at]
    if (character === '*') {
      if (tokens.at(-1) !== '*') tokens.push('*')
    } else if (character === '?') tokens.push(() => true)
    else if (character === '[') {
      const set = setOf(glob, at)
      if (set === null) return null
      tokens.push(set.token)
      at = set.end
    } else {
      const literal = character === '\\' ? glob[++at] : character
      if (literal === undefined) return null
      tokens.push((it) => it === literal)
    }
  }
  return tokens
}

/**
 * Whether the items are what a row of tokens wants, where a star stands for any number of items. It goes back to the
 * last star alone, so a hostile pattern costs no more than the product of both lengths.
 */
const fits = <T, U>(
  tokens: readonly T[],
  items: readonly U[],
  isStar: (it: T) => boolean,
  same: (token: T, item: U) => boolean,
): boolean => {
  let [token, item, star, after] = [0, 0, -1, 0]
  while (item < items.length) {
    const wanted = tokens[token]
    if (wanted !== undefined && isStar(wanted)) {
      star = token++
      after = item
    } else if (wanted !== undefined && same(wanted, items[item] as U)) {
      token++
      item++
    } else if (star >= 0) {
      token = star + 1
      item = ++after
    } else return false
  }
  return tokens.slice(token).every(isStar)
}

/** Whether a name without slashes fits. */
export const namer = (glob: string): ((name: string) => boolean) => {
  const tokens = tokensOf(glob)
  return (name) =>
    tokens !== null &&
    fits(
      tokens,
      [...name],
      (it) => it === '*',
      (token, it) => token !== '*' && token(it),
    )
}

/** Whether the parts of a path fit; two stars between slashes stand for any number of parts, at the end for one or more. */
export const pather = (glob: string): ((parts: readonly string[]) => boolean) => {
  const parts = glob.split('/')
  const open = parts.at(-1) === '**'
  const tokens = parts.flatMap((part, at): ('**' | ((name: string) => boolean))[] =>
    part !== '**' ? [namer(part)] : open && at === parts.length - 1 ? [() => true, '**'] : ['**'],
  )
  return (path) =>
    fits(
      tokens,
      path,
      (it) => it === '**',
      (token, name) => token !== '**' && token(name),
    )
}
