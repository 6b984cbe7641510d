/** All scopes. Stored keys name them, so a scope is never renamed. */
export const scopes = [
  'chats.completion',
  'audio.transcription',
  'audio.translation',
  'tools.execute',
  'files.encrypted.create',
  'files.encrypted.read',
  'files.encrypted.delete',
  'models.read',
  'api_key.create',
  'api_key.read',
  'api_key.update',
  'api_key.delete',
  'api_key.delegate',
] as const

/** The name of one scope. */
export type Scope = (typeof scopes)[number]

/** What a new key may do where nobody says more: use models, tools and its own files, and administer nothing. */
export const plainScopes: readonly Scope[] = [
  'chats.completion',
  'audio.transcription',
  'audio.translation',
  'models.read',
  'tools.execute',
  'files.encrypted.create',
  'files.encrypted.read',
  'files.encrypted.delete',
]
