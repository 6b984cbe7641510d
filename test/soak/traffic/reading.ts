import { ask, judged, one, type Traffic } from '../traffic.ts'

export const traffic: Traffic = {
  name: 'reading',
  weight: 1,
  ms: 10,
  async call(target, leave) {
    const path = one(['/std/models', '/compat/v1/models', '/admin/usage', '/metrics', '/tools', '/health/ready'])
    return judged(await ask(target, path, { method: 'GET' }, leave), 200, (text) => text.length > 10)
  },
}
