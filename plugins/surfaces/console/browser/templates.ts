export interface Template {
  readonly name: string
  readonly words: string
  readonly scopes: readonly string[]
}

/** What new keys are usually for. */
export const templates: readonly Template[] = [
  {
    name: 'App',
    words: 'Chats, transcribes, uses tools and its own sealed files. Administers nothing.',
    scopes: [
      'chats.completion',
      'audio.transcription',
      'audio.translation',
      'models.read',
      'tools.execute',
      'files.encrypted.create',
      'files.encrypted.read',
      'files.encrypted.delete',
    ],
  },
  {
    name: 'Metrics',
    words: 'Reads keys, usage and audit of its organisation; of an operator’s one also /metrics.',
    scopes: ['api_key.read'],
  },
  {
    name: 'Admin',
    words: 'Makes, changes and revokes keys. Spends nothing.',
    scopes: ['api_key.create', 'api_key.read', 'api_key.update', 'api_key.delete', 'models.read'],
  },
]
