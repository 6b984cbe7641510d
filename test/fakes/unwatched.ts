import { createRequire } from 'node:module'

interface Spawn {
  readonly env: Record<string, string>
}

const hook = createRequire(import.meta.url)('process-on-spawn') as { addListener(told: (it: Spawn) => Spawn): void }

// The test runner looks into every process by variables, and an enclave does not start with those: this file takes them away.
hook.addListener((it) => {
  const own = (it.env['NODE_OPTIONS'] ?? '').split(' ').filter((option) => option !== '' && !option.includes('tapjs'))
  if (own.length > 0) it.env['NODE_OPTIONS'] = own.join(' ')
  else delete it.env['NODE_OPTIONS']
  for (const name of Object.keys(it.env)) if (/^_?TAP(JS)?_/.test(name)) delete it.env[name]
  return it
})
