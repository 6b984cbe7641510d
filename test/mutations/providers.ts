import type { Changes } from './mutation.ts'

const of = (name: string) => `test/plugins/providers/${name}.test.ts`

export const providers: readonly Changes[] = [
  {
    file: 'plugins/providers/shared/sign-in.ts',
    test: of('shared/sign-in'),
    changes: [
      {
        breaks: 'A token is renewed before its end.',
        from: 'clock.now() + lasts - Math.min(longestMargin, lasts / 5)',
        to: 'clock.now() + lasts',
      },
      { breaks: 'Callers share a sign-in that runs.', from: 'running ??= renew()', to: 'running = renew()' },
      { breaks: 'Only the token that was refused is forgotten.', from: 'if (kept?.token === token) kept', to: 'kept' },
      {
        breaks: 'A caller who leaves ends the sign-in for nobody.',
        from: 'return unlessAborted(running, signal)',
        to: 'return running',
      },
      {
        breaks: 'A busy sign-in is no busy model.',
        from: 'status === 429 ? null : status',
        to: 'status',
      },
      { breaks: 'A token that never ends is none.', from: ' || !(seconds > 0)', to: '' },
    ],
  },
  {
    file: 'plugins/providers/shared/signed-fetch.ts',
    test: of('azure'),
    changes: [
      {
        breaks: 'A token that the backend refuses is not used again.',
        from: 'if (answer.status === 401)',
        to: 'if (answer.status === 498)',
      },
    ],
  },
  {
    file: 'plugins/providers/shared/one-sign-in.ts',
    test: of('azure'),
    changes: [
      {
        breaks: 'A resource has one way of signing in.',
        from: 'dataset.typed && !isOne',
        to: '!dataset.typed && !isOne',
      },
    ],
  },
  {
    file: 'plugins/providers/azure.ts',
    test: of('azure'),
    changes: [
      {
        breaks: 'The model behind a deployment tells what it does.',
        from: 'type ?? typeOf(model ?? id)',
        to: 'type ?? typeOf(id)',
      },
    ],
  },
  {
    file: 'plugins/providers/shared/chat-backend.ts',
    test: of('groq'),
    changes: [
      {
        breaks: 'Fields that a vendor refuses are not sent.',
        from: 'for (const name of it.unheard?.(model) ?? [])',
        to: 'for (const name of it.unheard?.(model) ? [] : [])',
      },
    ],
  },
  {
    file: 'plugins/providers/shared/chat-chunks.ts',
    test: of('deepseek'),
    changes: [
      {
        breaks: 'An answer that the backend broke off is no answer.',
        from: "told === 'insufficient_system_resource' || ",
        to: '',
      },
    ],
  },
  {
    file: 'core/inference/wordings.ts',
    test: 'test/named-providers.test.ts',
    changes: [
      {
        breaks: 'A caller is told what the backend of a model refuses.',
        from: 'if (upstream.unheard) note(',
        to: 'if (upstream.unheard && model === null) note(',
      },
    ],
  },
  {
    file: 'plugins/providers/shared/hosted-chat.ts',
    test: of('groq'),
    changes: [
      {
        breaks: 'No vendor gets the fields that OpenAI alone takes.',
        from: 'new Set([...openaiAlone, ...names])',
        to: 'new Set(names)',
      },
      { breaks: 'No vendor gets the fields that it refuses.', from: ', ...names])', to: '])' },
      { breaks: 'The key of the account goes to its vendor.', from: '`Bearer ${apiKey}`', to: "'Bearer '" },
      { breaks: 'A vendor has its own methods.', from: ', ...offers?.(backend, account) }', to: ' }' },
    ],
  },
  {
    file: 'plugins/providers/mistral.ts',
    test: of('mistral'),
    changes: [
      { breaks: 'Ids of calls have the form that Mistral takes.', from: '.slice(0, 9)', to: '' },
      {
        breaks: 'The dimensions of a vector have Mistral’s name.',
        from: 'output_dimension: dimensions',
        to: 'dimensions',
      },
    ],
  },
  {
    file: 'plugins/providers/xai.ts',
    test: of('xai'),
    changes: [
      {
        breaks: 'Thoughts count as completed.',
        from: 'completion_tokens: Number(total) - Number(prompt)',
        to: 'completion_tokens: completion',
      },
    ],
  },
  {
    file: 'plugins/providers/cohere.ts',
    test: of('cohere'),
    changes: [{ breaks: 'An effort is one that Cohere knows.', from: "'none' : 'high'", to: "'none' : effort" }],
  },
  {
    file: 'plugins/providers/bedrock/event-frames.ts',
    test: of('bedrock'),
    changes: [
      {
        breaks: 'The sum of a whole frame is checked.',
        from: 'crc32(bytes.subarray(0, end)) !== bytes.readUInt32BE(end)',
        to: 'crc32(bytes.subarray(0, end)) === -1',
      },
      {
        breaks: 'The sum of a frame’s beginning is checked before its length counts.',
        from: 'crc32(bytes.subarray(0, 8)) !== bytes.readUInt32BE(8)',
        to: 'crc32(bytes.subarray(0, 8)) === -1',
      },
    ],
  },
  {
    file: 'plugins/providers/bedrock/signed-door.ts',
    test: of('bedrock'),
    changes: [
      { breaks: 'The signature is for the region.', from: "service: 'bedrock', region,", to: "service: 'bedrock'," },
      { breaks: 'The body is signed.', from: 'headers, ...content, ...identity', to: 'headers, ...identity' },
    ],
  },
  {
    file: 'plugins/providers/bedrock/converse-answers.ts',
    test: of('bedrock'),
    changes: [
      {
        breaks: 'What the cache held counts.',
        from: "count('inputTokens') + read + written",
        to: "count('inputTokens')",
      },
      {
        breaks: 'A throttled stream is a full backend.',
        from: 'throttlingException: 429',
        to: 'throttlingException: 500',
      },
    ],
  },
  {
    file: 'plugins/providers/bedrock/converse.ts',
    test: of('bedrock'),
    changes: [
      { breaks: 'Turns alternate.', from: 'if (last?.role === role)', to: 'if (last?.role === undefined && last)' },
      { breaks: 'Fields of the model go to the model.', from: '(own.has(name) ? top : further)', to: 'top' },
    ],
  },
  {
    file: 'plugins/providers/vertex/service-account.ts',
    test: of('vertex'),
    changes: [
      { breaks: 'The assertion is signed over all of it.', from: 'Buffer.from(unsigned)', to: 'Buffer.from(head)' },
      { breaks: 'An assertion ends after an hour.', from: 'exp: iat + holds', to: 'exp: iat + 2 * holds' },
    ],
  },
  {
    file: 'plugins/providers/vertex.ts',
    test: of('vertex'),
    changes: [
      { breaks: 'Claude gets its own dialect.', from: "return 'messages'", to: "return 'generate-content'" },
      { breaks: 'Google’s list is for the project that pays.', from: "{ 'x-goog-user-project': project }", to: '{}' },
    ],
  },
]
