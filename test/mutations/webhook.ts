import type { Changes } from './mutation.ts'

export const webhook: readonly Changes[] = [
  {
    file: 'core/inference/metering/budget-webhook.ts',
    test: 'test/core/inference/metering/budget-webhook.test.ts',
    changes: [
      { breaks: 'The time is signed.', from: '`${id}.${seconds}.${body}`', to: '`${id}.${body}`' },
      { breaks: 'A share of a window has one id.', from: '${until ?? at}', to: '${at}' },
      { breaks: 'A redirect takes no message.', from: 'status < 300 && isThere', to: 'status < 300' },
      {
        breaks: 'A private receiver is not tried again.',
        from: "cause instanceof BadRequest ? 'never'",
        to: "cause === null ? 'never'",
      },
      {
        breaks: 'A receiver that is gone is believed.',
        from: "status === gone ? 'never'",
        to: "status === null ? 'never'",
      },
      {
        breaks: 'The messages that wait are bounded.',
        from: 'if (waiting === mostWaiting) return',
        to: 'if (waiting < 0) return',
      },
      { breaks: 'A slow receiver holds few sockets.', from: 'const mostAtOnce = 4', to: 'const mostAtOnce = 40' },
      { breaks: 'A slow receiver is given up.', from: 'const patienceMs = 10_000', to: 'const patienceMs = 100_000' },
      { breaks: 'A message is tried six times.', from: ', 600_000, 3_600_000]', to: ', 600_000]' },
      {
        breaks: 'The end of the gateway ends the waiting.',
        from: 'random.fraction() / 4), closing)',
        to: 'random.fraction() / 4))',
      },
      {
        breaks: 'Only the door for foreign hosts is used.',
        from: 'sending(fetch.outside,',
        to: 'sending(fetch.upstream,',
      },
    ],
  },
  {
    file: 'core/inference/metering/reservations.ts',
    test: 'test/budgets.test.ts',
    changes: [
      {
        breaks: 'The receiver is told.',
        from: 'if (receiver !== undefined) webhook',
        to: 'if (receiver === undefined) webhook',
      },
    ],
  },
]
