import { type Traffic, ask, judged, one } from '../traffic.ts'

const paths = [
  '/std/models',
  '/compat/v1/models',
  '/rvenc/models',
  '/rvenc/keys',
  `/rvenc/attestation?challenge=${'5'.repeat(64)}`,
  '/tools',
  '/files/encrypted',
  '/admin/usage',
  '/admin/keys',
  '/admin/audit',
  '/metrics',
  '/health/ready',
]

export const traffic: Traffic = {
  name: 'reading',
  weight: 3,
  ms: 10,
  async call(target, leave) {
    return judged(await ask(target, one(paths), { method: 'GET' }, leave), 200, (text) => text.length > 10)
  },
}
