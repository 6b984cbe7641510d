import type { Team } from './answers.ts'

export const teamState = ({ closed_at }: Team): { readonly kind: 'good' | 'idle'; readonly words: string } =>
  closed_at === null ? { kind: 'good', words: 'open' } : { kind: 'idle', words: 'closed' }

export const sourceWords = ({ source }: Team): string => (source === 'store' ? 'store' : 'configuration file')

export const teamPath = (name: string): string => `/admin/teams/${encodeURIComponent(name)}`
export const teamHash = (name: string): string => `#/teams/${encodeURIComponent(name)}`
