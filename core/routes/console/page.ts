/** The one page: its addresses are relative, so that it works under any prefix. Scripts behind the first view are only named. */
export const consolePage = (
  hash: string,
  files: ReadonlyMap<string, { readonly integrity: string; readonly type: string }>,
  first: ReadonlySet<string>,
): string => {
  const at = (name: string): string => `"console/${hash}/${name}" integrity="${files.get(name)?.integrity ?? ''}"`
  const others = [...files.keys()].filter((it) => it.endsWith('.js') && it !== 'main.js')
  const rel = (name: string): string => (first.has(name) ? 'modulepreload' : 'later')
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>sealgate console</title>` +
    `<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">` +
    `<link rel="icon" href="data:,"><link rel="stylesheet" href=${at('style.css')}>` +
    others.map((it) => `<link rel="${rel(it)}" href=${at(it)}>`).join('') +
    `<script type="module" src=${at('main.js')}></script></head>` +
    `<body><noscript><main><h1>sealgate console</h1><p>The console needs JavaScript.</p></main></noscript></body></html>`
  )
}
