import type { Chapter } from '../../../core/ports/chapter.ts'
import { faultWords } from '../shared/reference.ts'
import { catalogWords, listed } from '../shared/catalog-words.ts'

const example = {
  model: 'use-lite',
  state: 'I was charged twice for order 1182 and want my money back.',
  questions: {
    team: {
      type: 'choice',
      instructions: 'Which team handles this?',
      criteria: { billing: 'Payments, refunds, invoices', technical: 'Errors and outages' },
    },
    urgent: { type: 'noul', instructions: 'Must somebody act today?' },
    mood: { type: 'score', instructions: 'How upset is the writer?', criteria: ['calm', 'annoyed', 'furious'] },
  },
}

const answered = {
  model: 'use-lite',
  answers: {
    team: { type: 'choice', choice: 'billing', probabilities: { billing: 0.93, technical: 0.07 }, confidence: 0.86 },
    urgent: { type: 'noul', noul: 0.61 },
    mood: {
      type: 'score',
      score: 1.2,
      legend: { '0': 'calm', '1': 'annoyed', '2': 'furious' },
      probabilities: { '0': 0.2, '1': 0.4, '2': 0.4 },
      confidence: 0.1,
    },
  },
  usage: { input_tokens: 61, output_tokens: 3 },
}

const mail = 'I was charged twice for order 1182 and want my money back.'

const openaiAsked = {
  model: 'use-lite',
  input: [{ role: 'user', content: [{ type: 'input_text', text: mail }] }],
  questions: [
    {
      type: 'choice',
      name: 'team',
      instructions: 'Which team handles this?',
      choices: [
        { value: 'billing', description: 'Payments, refunds, invoices' },
        { value: 'technical', description: 'Errors and outages' },
      ],
    },
    { type: 'predicate', name: 'urgent', instructions: 'Must somebody act today?' },
  ],
}

const openaiAnswered = {
  model: 'use-lite',
  answers: [
    {
      ...{ type: 'choice', name: 'team', choice: 'billing', confidence: 0.86 },
      probabilities: [
        { value: 'billing', probability: 0.93 },
        { value: 'technical', probability: 0.07 },
      ],
    },
    { type: 'predicate', name: 'urgent', probability: 0.61 },
  ],
  usage: {
    ...{ input_tokens: 61, input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 } },
    ...{ output_tokens: 3, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 64 },
  },
}

/** Words of the two public forms, where they differ from those of the interface. */
const publicWords = {
  'body.input': 'A text, or turns: messages of text, JSON and images, calls of tools and their outputs.',
  'input.type': 'The kind of the item. An item without one is a message.',
  'input.role': 'Who says it.',
  'input.content': 'The text, or a list of parts.',
  'input.output': 'What the tool gave: a text, or a list of parts.',
  'input.call_id': 'The id that joins a call and its output.',
  'input.name': 'The name of the tool.',
  'input.arguments': 'The arguments of the call as JSON.',
  'input.input': 'The text that the tool was given.',
  'content.type': 'The kind of the part.',
  'content.text': 'The text.',
  'content.refusal': 'Why the assistant declined.',
  'content.image_url': 'A base64 data URL. A request has 16 images at most.',
  'content.data': 'An object, or a list of objects.',
  'output.type': 'The kind of the part.',
  'output.text': 'The text.',
  'output.refusal': 'Why the assistant declined.',
  'output.image_url': 'A base64 data URL.',
  'output.data': 'An object, or a list of objects.',
  'instructions.type': 'The kind of the part; no image.',
  'instructions.text': 'The text.',
  'instructions.refusal': 'Why the assistant declined.',
  'instructions.image_url': 'Refused here: an image stands in the input.',
  'instructions.data': 'An object, or a list of objects.',
  'body.questions': 'Up to 400 questions.',
  'questions.name': 'A name of the caller’s choice, which the answer repeats.',
  'questions.choices': 'From 2 to 255 values.',
  'choices.value': 'A text or a boolean. `true` and `"true"` are two values.',
  'choices.description': 'What the value means.',
  'questions.levels': 'The levels of the scale from low to high, 2 to 10.',
  'levels.label': 'The name of the level.',
  'levels.description': 'What the level means.',
  'answer.answers': 'One answer for each question, in their order.',
  'answers.type': 'The kind of the answer; `refusal` where the backend declines the question.',
  'answers.name': 'The name of the question; null where it has none.',
  'answers.probability': 'The probability of yes.',
  'answers.choice': 'The value with the highest probability.',
  'answers.score': 'The mean of the levels, counted from 0 and weighted by their probabilities.',
  'probabilities.value': 'The value, or the number of the level.',
  'probabilities.label': 'The name of the level.',
  'probabilities.probability': 'From 0 to 1. Together they are 1.',
  'usage.input_tokens_details': 'What of the input a prompt cache held or took.',
  'input_tokens_details.cached_tokens': 'Tokens that the cache held.',
  'input_tokens_details.cache_write_tokens': 'Tokens that the cache took.',
  'usage.output_tokens_details': 'What of the output nobody sees.',
  'output_tokens_details.reasoning_tokens': 'Tokens of thoughts.',
  ...faultWords,
  'error.type': 'The kind of the error.',
  'error.param': 'The field that is wrong. It is null where no field is.',
}

const leftOut = { 'x-sealgate-dropped': 'Members of the request without an effect here.' }

/** The chapter of typed decisions. */
export const decision: Chapter = {
  name: 'Typed decisions',
  about:
    'A decision answers typed questions about a state: a `choice` among labels, a `noul` (how likely yes is), or a `score` on a scale. ' +
    'Each answer tells its probabilities. Questions never see each other.',
  words: {
    ...catalogWords,
    'body.state': 'The context of the questions: a text or any JSON.',
    'body.questions': 'Up to 16 questions, each under an id that the caller chooses.',
    'questions.type': 'The kind of the question.',
    'questions.instructions': 'The question itself.',
    'questions.criteria':
      'For `choice`, labels with their descriptions. For `score`, levels from low to high. For `noul`, both outcomes in words.',
    'criteria.true': 'What yes means.',
    'criteria.false': 'What no means.',
    'body.images': 'One image as a base64 data URL. The model sees it before the state.',
    'body.videos':
      'One MP4 as a base64 data URL: at most 10 MiB, 30 seconds and 1920 × 1080. Four frames are looked at.',
    'body.samples': 'How often the model reads the questions. The answers are averaged.',
    'body.steps': 'Denoising steps, for models that know them.',
    'body.escalate':
      'Who is asked again about answers that are not sure, in place of what the operator chose; false for nobody.',
    'escalate.below': 'The confidence below which the larger model is asked.',
    'escalate.to': 'The larger model.',
    'escalate.most': 'How many models are asked one after the other, each by the operator’s rule for the one before.',
    'answer.answers': 'One answer for each question, under the same id.',
    'answers.type': 'The kind of the question.',
    'answers.choice': 'The label with the highest probability.',
    'answers.probabilities': 'The probability of each label or level. Together they are 1.',
    'answers.confidence':
      'From 0, a guess among all labels or levels, to 1, certain. It is not the probability of the answer.',
    'answers.advice':
      '`act` where the answer keeps the error that the calibration of its model promises, else `ask`. Models without a calibration give none.',
    'answers.noul': 'The probability of yes.',
    'answers.score': 'The mean of the levels, counted from 0 and weighted by their probabilities.',
    'answers.legend': 'The level behind each number.',
    'answer.model': 'The model that answered.',
    'answer.diagnostics': 'Details of the engine. They may change without notice.',
    'answer.x_diagnostics': 'Details of the engine. They may change without notice.',
    'answer.models': 'The same models in the short form of System-One clients.',
    'answer.models.name': 'The name to send in requests.',
    'answer.models.description': 'What the model is, for people.',
    'answer.models.release_date': 'The day on which the model was made.',
  },
  operations: {
    'POST /compat/v1/decision': {
      about: 'A key has at most four of these under way.',
      body: example,
      answer: { ...answered, diagnostics: {} },
      tells: { 'x-typesafe-request-id': 'The id of the request.' },
      statuses: [502],
    },
    'POST /compat/v1/systemone': {
      about: 'Errors have the form of those clients too.',
      body: example,
      answer: { ...answered, x_diagnostics: {} },
      tells: { 'x-typesafe-request-id': 'The id of the request.' },
      statuses: [502],
    },
    'POST /v1/decisions': {
      about:
        'Each answer stands at the place of its question. A backend may decline single questions. ' +
        'The places are those of `/compat/v1/decision`.',
      body: openaiAsked,
      answer: openaiAnswered,
      tells: leftOut,
      statuses: [502],
      words: publicWords,
    },
    'POST /api/alpha/decisions': {
      about:
        'Up to 400 questions and 255 labels of a choice. Preferences in `provider` are left out: ' +
        'they choose among the router’s own backends.',
      body: example,
      answer: { id: '0198f0f5-0000-7000-8000-000000000000', ...answered, provider: 'use-lite' },
      tells: leftOut,
      statuses: [502],
      words: {
        'body.questions': 'Up to 400 questions, each under an id that the caller chooses.',
        'answer.id': 'The id of the request.',
        'answer.provider': 'The backend that answered.',
        'error.code': 'The status.',
        'error.message': 'What is wrong.',
      },
    },
    'GET /compat/v1/models': {
      about: 'A chat model is listed where its settings have `"decide": true`.',
      answer: {
        object: 'list',
        data: [listed],
        models: [{ name: 'use-lite', description: listed.description, release_date: '2023-11-14' }],
      },
      tells: { 'x-typesafe-request-id': 'The id of the request.' },
    },
  },
}
