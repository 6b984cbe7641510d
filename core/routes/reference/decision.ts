import type { Chapter } from '../../http/reference.ts'

const asked = {
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

const listed = {
  id: 1,
  object: 'model',
  created: 1700000000,
  owned_by: 'sealgate',
  model: 'use-lite',
  name: 'use-lite',
  description: 'A sentence encoder that decides offline.',
  type: 'CHAT',
  input_modalities: ['text'],
  price_config: { standard: {} },
  regions: [],
  requires_auth: 1,
  usage_mode: 'standard',
  visible_in_dashboard: 1,
  likes_count: 0,
  dislikes_count: 0,
  total_reviews: 0,
  rating_percent: 0,
}

/** What a catalog says of a model, in every chapter that lists models. */
export const catalogWords = {
  'answer.object': 'The word `list`.',
  'answer.data': 'The models.',
  'answer.data.id': 'The model as a number, which requests may send in place of its name.',
  'answer.data.object': 'The word `model`.',
  'answer.data.created': 'The time when the model was made, in Unix seconds.',
  'answer.data.owned_by': 'The maker of the model.',
  'answer.data.model': 'The name to send in requests.',
  'answer.data.name': 'The name to show to people.',
  'answer.data.description': 'What the model is, for people.',
  'answer.data.type': 'What the model is for.',
  'answer.data.input_modalities': 'The kinds of input that the model takes.',
  'answer.data.price_config': 'Prices by plane and region. Absent members have no price.',
  'answer.data.regions': 'The regions that serve the model.',
  'answer.data.requires_auth': '1 where a key is needed.',
  'answer.data.usage_mode': 'Whether the model serves in the clear, sealed, or both.',
  'answer.data.visible_in_dashboard': '1 where a dashboard shows the model.',
  'answer.data.likes_count': 'Votes for the model.',
  'answer.data.dislikes_count': 'Votes against the model.',
  'answer.data.total_reviews': 'Reviews of the model.',
  'answer.data.rating_percent': 'The share of good votes, in percent.',
  prompt_price_per_k: 'The price of 1,000 tokens of input.',
  completion_price_per_k: 'The price of 1,000 tokens of output.',
  reasoning_price_per_k: 'The price of 1,000 tokens of reasoning.',
  cached_price_per_k: 'The price of 1,000 tokens that a backend’s cache has.',
  cache_write_price_per_k: 'The price of 1,000 tokens that a backend’s cache keeps for minutes.',
  cache_write_1h_price_per_k: 'The price of 1,000 tokens that a backend’s cache keeps for an hour.',
  audio_prompt_price_per_k: 'The price of 1,000 tokens of sound in the input.',
  audio_completion_price_per_k: 'The price of 1,000 tokens of sound in the output.',
  character_price_per_k: 'The price of 1,000 characters that are spoken.',
  audio_price_per_min: 'The price of a minute of sound.',
  image_price: 'The price of one image.',
  request_price: 'The price of one request.',
} as const

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
    'answer.answers': 'One answer for each question, under the same id.',
    'answers.type': 'The kind of the question.',
    'answers.choice': 'The label with the highest probability.',
    'answers.probabilities': 'The probability of each label or level. Together they are 1.',
    'answers.confidence':
      'From 0, a guess among all labels or levels, to 1, certain. It is not the probability of the answer.',
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
      body: asked,
      answer: { ...answered, diagnostics: {} },
      tells: { 'x-typesafe-request-id': 'The id of the request.' },
      statuses: [502],
    },
    'POST /compat/v1/systemone': {
      about: 'Errors have the form of those clients too.',
      body: asked,
      answer: { ...answered, x_diagnostics: {} },
      tells: { 'x-typesafe-request-id': 'The id of the request.' },
      statuses: [502],
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

/** An example of a catalog, for every chapter that lists models. */
export const catalogSample = { object: 'list', data: [{ ...listed, model: 'rehearsal', name: 'rehearsal' }] }
