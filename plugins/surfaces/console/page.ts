/** The mark of the page that the reader's own machine serves. */
const ownMark = '<meta name="sealgate-console" content="own">'

/** Scripts below `sealed` are only named: the page of the sealed playground loads them. */
const relOf = (name: string, first: ReadonlySet<string>): string =>
  name.startsWith('sealed/') ? 'sealed' : first.has(name) ? 'modulepreload' : 'later'

/**
 * The one page: its addresses are relative, so that it works under any prefix. Scripts behind the first view are only
 * named. `own` marks the page that the reader's own machine serves.
 */
export const consolePage = (
  hash: string,
  files: ReadonlyMap<string, { readonly integrity: string; readonly type: string }>,
  first: ReadonlySet<string>,
  own = false,
): string => {
  const at = (name: string): string => `"console/${hash}/${name}" integrity="${files.get(name)?.integrity ?? ''}"`
  const others = [...files.keys()].filter((file) => file.endsWith('.js') && file !== 'main.js')
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>sealgate console</title>` +
    `<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">` +
    (own ? ownMark : '') +
    `<link rel="icon" href="data:,"><link rel="stylesheet" href=${at('style.css')}>` +
    others.map((file) => `<link rel="${relOf(file, first)}" href=${at(file)}>`).join('') +
    `<script type="module" src=${at('main.js')}></script></head>` +
    `<body><noscript><main><h1>sealgate console</h1><p>The console needs JavaScript.</p></main></noscript></body></html>`
  )
}
