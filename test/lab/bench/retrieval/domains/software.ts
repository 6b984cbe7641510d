import type { Domain } from '../domain.ts'

export const software: Domain = {
  titles: ['{name} Cloud: reference for integrators', '{name} Cloud: handbook for operators'],
  shared: [
    {
      heading: 'Limits',
      told: [
        'A key may send {number} requests a second; beyond that the gateway answers 429 with the header Retry-After.',
        'Beyond {number} requests a second the gateway of {name} answers 429 with the header Retry-After.',
      ],
      literal: 'How many requests a second may a key send to {name} before 429 and Retry-After?',
      asked: [
        'What happens when my client sends {name} too many requests, and how is the throttling signalled?',
        'How fast can a program hit the interface of {name} until it gets rate limited?',
      ],
    },
    {
      heading: 'Keeping of logs',
      told: [
        'Log lines are deleted {number} days after they were written; an archive in cold storage is not kept.',
        '{name} deletes log lines {number} days after they were written and keeps no archive in cold storage.',
      ],
      literal: 'How many days after they were written does {name} delete log lines?',
      asked: [
        'For what duration does {name} store old log entries before they vanish?',
        'For what duration does {name} store event history before it vanishes?',
      ],
    },
    {
      heading: 'Rotating secrets',
      told: [
        'A signing secret is replaced every {number} days, and during the overlap both the old and the new one verify.',
        'Every {number} days {name} replaces the signing secret; during the overlap both verify.',
      ],
      literal: 'How often does {name} replace a signing secret, and do both verify during the overlap?',
      asked: [
        'How frequently must a secret be rotated in {name}, and will existing tokens break immediately?',
        'Does {name} have a grace period when the cryptographic keys change?',
      ],
    },
    {
      heading: 'Webhooks',
      told: [
        'A webhook that was not acknowledged is tried again {number} times with growing pauses, then parked.',
        'When a webhook is not acknowledged, {name} tries it {number} more times with growing pauses and then parks it.',
      ],
      literal: 'How many times does {name} try a webhook again that was not acknowledged?',
      asked: [
        'My endpoint was down; how does {name} handle a webhook that failed to reach its receiver?',
        'What is the retry policy of {name} for notifications that a receiver did not confirm?',
      ],
    },
    {
      heading: 'Backups',
      told: [
        'Snapshots of the database are taken at {time} and restored into a sandbox once a month as a rehearsal.',
        'At {time} {name} takes snapshots of the database and rehearses restoring them once a month.',
      ],
      literal: 'When are snapshots of the {name} database taken and restored as a rehearsal?',
      asked: [
        'At which hour does {name} create its nightly database backups, and does an engineer check that recovery works?',
        'If data were lost in {name}, has disaster recovery ever been practised, and from what copies?',
      ],
    },
    {
      heading: 'Regions',
      told: [
        'Data of European tenants never leaves the cluster in {city}, not even for failover.',
        'Not even for failover does data of European tenants leave the {name} cluster in {city}.',
      ],
      literal: 'Does data of European tenants ever leave the {name} cluster for failover?',
      asked: [
        'Where geographically does {name} host sensitive data of French customers, for GDPR purposes?',
        'In which location are our records physically stored by {name} if we are a French company?',
      ],
    },
    {
      heading: 'Roles',
      told: [
        'An auditor can read everything but change nothing; only an owner invites further members.',
        'In {name} only an owner invites further members, while an auditor reads everything and changes nothing.',
      ],
      literal: 'Can an auditor in {name} read everything, and does only an owner invite members?',
      asked: [
        'Is there a view-only account in {name} suitable for an external auditor from a consulting firm?',
        'Is there a view-only account type in {name} suitable for external inspectors?',
      ],
    },
    {
      heading: 'Support',
      told: [
        'Incidents of the highest severity are answered by a person within {number} minutes, day and night.',
        'Day and night a person at {name} answers incidents of the highest severity within {number} minutes.',
      ],
      literal: 'Within how many minutes are incidents of the highest severity answered by {name}?',
      asked: [
        'How quickly does the helpdesk of {name} respond to severe incidents that take production down?',
        'What reaction time is guaranteed by {name} for critical outages?',
      ],
    },
  ],
  single: [
    {
      heading: 'Error codes',
      told: ['ERR_4711 means that the clock of the caller drifts by more than a minute; synchronise it and repeat.'],
      literal: 'What does ERR_4711 mean for the clock of the caller?',
      asked: [
        'What should I do if my requests are rejected because the clock on my server is wrong?',
        'What should I do if my requests are rejected because the system time on my server is wrong?',
      ],
    },
    {
      heading: 'Client library',
      told: ['The method fetchLedgerPage gives a cursor that stays valid for an hour, whatever is inserted meanwhile.'],
      literal: 'How long does the cursor of fetchLedgerPage stay valid?',
      asked: [
        'How does the cursor for paging through bookkeeping entries behave while new items are being added?',
        'How does pagination through bookkeeping entries behave while new items are being added?',
      ],
    },
    {
      heading: 'Post mortem',
      told: [
        'The outage in autumn began when an expired certificate stopped the message broker from joining its cluster.',
      ],
      literal: 'Which expired certificate stopped the message broker?',
      asked: [
        'What was the root cause of the big outage involving the queueing system?',
        'What was the root cause of the big downtime involving the queueing system?',
      ],
    },
    {
      heading: 'Cost',
      told: [
        'Idle workspaces are put to sleep after a fortnight and wake on the first call, which may take half a minute.',
      ],
      literal: 'When are idle workspaces put to sleep and how do they wake?',
      asked: [
        'Why is the first call slow when a project has not been used by its team for weeks?',
        'Why is the initial request slow when a project has not been used for a long time?',
      ],
    },
  ],
  around: [
    'The console shows a coloured bar for each environment so that nobody confuses them.',
    'Examples in this document are shortened and use names that do not exist.',
    'The status page is served from another provider on purpose.',
    'Fields that are not documented may vanish without a warning.',
    'The command line tool prints tables by default and JSON when asked.',
    'Dates are written in UTC everywhere, also in exported files.',
    'A changelog is sent to all owners at the start of each quarter.',
    'Identifiers are opaque and should not be parsed.',
  ],
}
