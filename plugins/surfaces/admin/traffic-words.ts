import type { Chapter } from '../../../core/ports/chapter.ts'
import { exampleEnvelope } from '../shared/example-envelope.ts'

const figures = {
  ...{
    requests: 240,
    errors: 3,
    sealed: 60,
    p50_ms: 812,
    p95_ms: 2140,
    first_token_p50_ms: 201,
    first_token_p95_ms: 414,
  },
  ...{ input: 48000, output: 9600, cost: 0.31, unpriced: 0 },
}

const of = (list: string): Readonly<Record<string, string>> => ({
  [`${list}.requests`]: 'Requests of callers; of a model or a team its answered calls, and of a backend its calls.',
  [`${list}.errors`]:
    'Requests with a status of 500 or more, or failed calls of a backend. It is null for models and teams.',
  [`${list}.sealed`]: 'Of them, those of sealed calls.',
  [`${list}.p50_ms`]: 'Half of the requests took no longer, in ms. It is null where none was timed.',
  [`${list}.p95_ms`]: 'Of the requests, 95 percent took no longer, in ms.',
  [`${list}.first_token_p50_ms`]: 'Half of the streams began within so many ms. It is null without any.',
  [`${list}.first_token_p95_ms`]: 'Of the streams, 95 percent began within so many ms.',
  [`${list}.cost`]: 'The cost of the priced calls.',
})

/** The words of the traffic of an hour or a day. */
export const trafficWords: Chapter['operations'][string] = {
  about:
    'Probes, administration, the console and lists of models are no traffic. The workers of a gateway are added up, and replicas on other machines are not. A restart forgets the counts. Of one organisation there are the answered calls, and sums of its teams.',
  query: { span: 'hour', by: 'backend' },
  words: {
    span: '`hour` is the last 60 minutes, `day` the last 48 half hours.',
    by: 'What the sums are told by: models when absent, and teams for one organisation.',
    'query.name': 'The model, team or backend whose slots are told. Without it, all requests.',
    step_ms: 'The ms of one slot.',
    slots: 'One for each step, the latest last.',
    'slots.at': 'When the slot begins, in Unix milliseconds.',
    sums: 'The sums over the whole span, the largest first.',
    'sums.name': 'The model, the backend, or `organisation/team`.',
    ...of('slots'),
    ...of('sums'),
    marks: 'When the gateway started or was reloaded.',
    'marks.at': 'The moment, in Unix milliseconds.',
    'marks.what': 'What happened.',
    incidents:
      'Times of the last day in which three calls or more of a backend failed in a row, for one of its models.',
    'incidents.model': 'The backend’s own name of the model.',
    'incidents.since': 'When the first of them failed, in Unix milliseconds.',
    'incidents.last': 'When the last of them failed.',
    'incidents.until': 'When the next call was answered. It is null while none was.',
    'incidents.failed': 'The number of failed calls.',
    'incidents.status': 'The status of the last failure. It is null without one.',
  },
  answer: {
    ...exampleEnvelope,
    data: {
      processes: 1,
      step_ms: 60000,
      slots: [{ at: 1893456000000, ...figures }],
      sums: [{ name: 'rehearsal', ...figures }],
      marks: [{ at: 1893456000000, what: 'reload' }],
      incidents: [
        {
          ...{ backend: 'rehearsal', model: 'rehearsal', since: 1893456000000, last: 1893456009000 },
          ...{ until: null, failed: 14, status: 500 },
        },
      ],
    },
  },
}
