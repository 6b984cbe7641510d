/** Fields of the common format that Gemini’s dialect has no likeness of; its backends refuse them. */
export const fieldsBeyondContent: ReadonlySet<string> = new Set([
  'stream_options',
  'parallel_tool_calls',
  'user',
  'metadata',
  'store',
  'logit_bias',
  'prediction',
  'verbosity',
  'audio',
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
  'web_search_options',
  'provider',
  'messages.content.image_url.detail',
])
