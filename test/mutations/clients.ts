import type { Changes } from './mutation.ts'

export const clients: readonly Changes[] = [
  {
    file: 'adapters/production/commands/files.ts',
    test: 'test/adapters/production/commands/files.test.ts',
    changes: [
      {
        breaks: 'A refused file is named.',
        from: 'new Error(`${name}: ${complaint(error)}`',
        to: 'new Error(complaint(error)',
      },
    ],
  },
  {
    file: 'core/inference/routing/failover.ts',
    test: 'test/stock-errors.test.ts',
    changes: [
      {
        breaks: 'Stock clients are told of full backends, and when these take requests again.',
        from: 'fail(isFull ? full(last) : last)',
        to: 'fail(last)',
      },
    ],
  },
  {
    file: 'core/routes/find-model.ts',
    test: 'test/stock-errors.test.ts',
    changes: [
      {
        breaks: 'Stock clients are told that the model list is not known yet.',
        from: 'catalog.isWhole() ||',
        to: 'catalog.isWhole() || model !== null ||',
      },
    ],
  },
]
