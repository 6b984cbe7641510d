/** Fields of the common format that the Responses dialect has no likeness of; its backends refuse them. */
export const fieldsBeyondResponses: ReadonlySet<string> = new Set([
  'stream_options',
  'n',
  'stop',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'prediction',
  'modalities',
  'audio',
  'functions',
  'function_call',
  'web_search_options',
  'provider',
])
