import type { Changes } from './mutation.ts'

export const dialects: readonly Changes[] = [
  {
    file: 'core/dialects/print-json.ts',
    test: 'test/core/dialects/print-json.test.ts',
    changes: [
      {
        breaks: 'Other calls have their turn while a long body is printed.',
        from: '    await nextTurn()\n',
        to: '',
      },
      {
        breaks: 'A pair of surrogates is never torn.',
        from: 'if (isHighSurrogate(text.charCodeAt(end - 1))) end += 1',
        to: '',
      },
      {
        breaks: 'A member that is undefined is left out.',
        from: 'if (it === undefined) continue',
        to: '',
      },
      {
        breaks: 'A short body costs no turn of the loop.',
        from: 'lengthOf(value, short) <= short ?',
        to: 'lengthOf(value, short) < 0 ?',
      },
    ],
  },
  {
    file: 'core/dialects/generate-content/spelling.ts',
    test: 'test/dialects/generate-content.test.ts',
    changes: [
      {
        breaks: 'An object with more members than the dialect has is refused.',
        from: 'const mostMembers = 256',
        to: 'const mostMembers = 257',
      },
      {
        breaks: 'An object with 256 members is taken.',
        from: 'const mostMembers = 256',
        to: 'const mostMembers = 255',
      },
    ],
  },
]
