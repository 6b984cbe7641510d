import { createRequire } from 'node:module'

interface Spawn {
  readonly env: Record<string, string>
}

const hook = createRequire(import.meta.url)('process-on-spawn') as { addListener(told: (spawn: Spawn) => Spawn): void }

// The test runner looks into every process by variables, and an enclave does not start with those: this file takes them away.
hook.addListener((spawn) => {
  const own = (spawn.env['NODE_OPTIONS'] ?? '')
    .split(' ')
    .filter((option) => option !== '' && !option.includes('tapjs'))
  if (own.length > 0) spawn.env['NODE_OPTIONS'] = own.join(' ')
  else delete spawn.env['NODE_OPTIONS']
  for (const name of Object.keys(spawn.env)) if (/^_?TAP(JS)?_/.test(name)) delete spawn.env[name]
  return spawn
})
