import type { Changes } from './mutation.ts'

const test = 'test/reference.test.ts'

export const reference: readonly Changes[] = [
  {
    file: 'core/http/docs-page.ts',
    test,
    changes: [
      { breaks: 'The calls of /docs go where a gateway listens.', from: '127.0.0.1:8787', to: '127.0.0.1:3000' },
    ],
  },
  {
    file: 'core/http/reference.ts',
    test,
    changes: [
      {
        breaks: 'Every property of openapi.json has a sentence.',
        from: 'ownWord(schema) ?? sentenceFor(at, tables)',
        to: 'ownWord(schema)',
      },
      {
        breaks: 'A sentence for a longer path beats one for a shorter path.',
        from: 'for (let from = 0; from < path.length; from++) {',
        to: 'for (let from = path.length - 1; from >= 0; from--) {',
      },
    ],
  },
  {
    file: 'core/http/openapi-errors.ts',
    test: 'test/api.test.ts',
    changes: [
      {
        breaks: 'An operation that needs a scope tells that it may answer with 403.',
        from: "(typeof access === 'object' ? [403] : [])",
        to: '([])',
      },
    ],
  },
  {
    file: 'core/http/curl.ts',
    test,
    changes: [
      {
        breaks: 'The curl of a route brings the key.',
        from: '(it.security ?? []).length > 0',
        to: 'false',
      },
    ],
  },
  {
    file: 'core/http/page.ts',
    test,
    changes: [
      {
        breaks: 'Markup in a sentence of the page stays text.',
        from: 'escapeHtml(text).replace(/`([^`]+)`/g',
        to: 'text.replace(/`([^`]+)`/g',
      },
    ],
  },
]
