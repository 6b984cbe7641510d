import { dirname, join, normalize } from 'node:path'
import t from 'tap'
import { packedFiles, packedPage, packedPages } from './packed/pages.ts'

t.test('pages of the package link to files of the package alone', (t) => {
  const files = packedFiles()
  const pages = packedPages(files)
  t.ok(pages.size > 20, `${pages.size} pages`)
  let links = 0
  for (const [page, text] of pages) {
    for (const [, target = ''] of text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)) {
      if (/^\w+:/.test(target)) continue
      links++
      const to = normalize(join(dirname(page), target))
      t.ok(files.has(to) || [...files].some((file) => file.startsWith(`${to}/`)), `${page}: ${target}`)
    }
    const paths = [...text.matchAll(/`((?:core|plugins|adapters|test|docs)\/[\w./-]+)`/g)].map(([, path = '']) => path)
    if (paths.some((path) => !files.has(path))) t.match(text, 'name files of the source', page)
  }
  t.ok(links > 60, `${links} links`)
  t.end()
})

t.test('a link to a file that is not packed becomes its words', (t) => {
  const packed = new Set(['docs/start.md'])
  const page = '# A\n\n[here](start.md#x), [there](adr/0001-plugins.md) and [out](https://example.org/)\n'
  t.equal(packedPage('docs/a.md', page, packed), '# A\n\n[here](start.md#x), there and [out](https://example.org/)\n')
  t.match(packedPage('docs/a.md', '# A\n\n`core/errors.ts`\n', packed), /^# A\n\nPaths of `core`.*\n\n`core/)
  t.end()
})
