/** A star, or a test for one character of a name. */
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

/** Reads a set in brackets that begins at `at`. Null when no bracket closes the set. */
const setOf = (glob: string, at: number): { readonly token: Token; readonly end: number } | null => {
  const members: ((name: string) => boolean)[] = []
  const inverted = '!^'.includes(glob[at + 1] ?? ' ')
  const first = at + (inverted ? 2 : 1)
  for (let i = first; i < glob.length; i++) {
    if (glob[i] === ']' && i > first)
      return { token: (name) => members.some((member) => member(name)) !== inverted, end: i }
    const kind = /^\[:(\w+):\]/.exec(glob.slice(i, i + 12))
    if (kind !== null) {
      const pattern = named[kind[1] ?? '']
      if (pattern === undefined) return null
      members.push((name) => pattern.test(name))
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
    members.push((name) => low <= name && name <= high)
  }
  return null
}

/** Null when the pattern can match nothing. */
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
      tokens.push((name) => name === literal)
    }
  }
  return tokens
}

/**
 * True when the items match the tokens; a star matches any number of items. The search backtracks only to the last
 * star, so a hostile pattern costs at most the product of both lengths.
 */
const fits = <T, U>(
  tokens: readonly T[],
  items: readonly U[],
  isStar: (token: T) => boolean,
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

/** Matches names without slashes. */
export const nameMatcher = (glob: string): ((name: string) => boolean) => {
  const tokens = tokensOf(glob)
  return (name) =>
    tokens !== null &&
    fits(
      tokens,
      [...name],
      (token) => token === '*',
      (token, matches) => token !== '*' && token(matches),
    )
}

/** Matches the parts of a path. `**` between slashes matches any number of parts, and at the end one part or more. */
export const pathMatcher = (glob: string): ((parts: readonly string[]) => boolean) => {
  const parts = glob.split('/')
  const open = parts.at(-1) === '**'
  const tokens = parts.flatMap((part, at): ('**' | ((name: string) => boolean))[] =>
    part !== '**' ? [nameMatcher(part)] : open && at === parts.length - 1 ? [() => true, '**'] : ['**'],
  )
  return (path) =>
    fits(
      tokens,
      path,
      (token) => token === '**',
      (token, name) => token !== '**' && token(name),
    )
}
