import t, { type Test } from 'tap'
import { closedDoors } from './fakes/closed-doors.ts'
import { enclaveWithin } from '../adapters/memory/enclave.ts'
import { memory } from '../adapters/memory/index.ts'
import { tools } from '../adapters/memory/tools.ts'
import { Unavailable } from '../core/errors.ts'
import { Enclave } from '../core/ports/enclave.ts'
import { connect, newKek } from '../plugins/sealed/client/client.ts'
import { running, unhurried } from './environments.ts'
import { given } from './fitted.ts'

/** A gateway whose enclave hears of a store's refusal no more than a process of its own does. */
const stage = async (t: Test, quota: object) => {
  const apart = given(Enclave, 'apart', () => {
    const inner = enclaveWithin()({ upstreams: [], tools }).make(() => ({ fetch: closedDoors }) as never)
    return {
      ...inner,
      handle: (route, sealed, grant, signal, enclaveFiles) =>
        inner.handle(route, sealed, grant, signal, {
          ...enclaveFiles!,
          keep: (...made) => enclaveFiles!.keep(...made).catch(() => Promise.reject(new Unavailable())),
        }),
    }
  })
  const gateway = await running(t, { ...memory(), enclave: apart }, { ...unhurried, files: { quota } })
  const answers: unknown[] = []
  const heard = async (...call: Parameters<typeof fetch>) => {
    const answer = await fetch(...call)
    if (!answer.ok) answers.push(await answer.clone().json())
    return answer
  }
  const policy = { allowInsecureDev: true }
  const client = connect({ baseUrl: gateway.base, apiKey: gateway.key, kek: newKek(), policy, fetch: heard })
  const make = (fileName: string) =>
    client.tools.call('createFileForUser', {
      ...{ fileName, fileExtension: 'txt', fileContent: 'words', mimeType: 'text/plain' },
    })
  return { make, answers, client }
}

t.test('a made file that finds no place is refused as an upload is, and for good', async (t) => {
  for (const [quota, told] of [
    [{ files: 1 }, '1 files'],
    [{ bytes: 60 }, '60 bytes'],
  ] as const) {
    const { make, answers, client } = await stage(t, quota)
    await make('first')
    await t.rejects(make('second'), Object.assign(new Error(), { fault: 'refused', status: 400, retryAfter: null }))
    t.match(answers, [{ status: 400, log: { code: 'over_quota' }, validator: { quota: told }, data: null }])
    t.equal((await client.files.list()).total, 1)
  }
})

t.test('a fault inside a tool stays sealed', async (t) => {
  const { client, answers } = await stage(t, {})
  const wrong = client.tools.call('createFileForUser', {
    ...{ fileName: 'x', fileExtension: 'txt', fileContent: 'words', mimeType: 'no type' },
  })
  await t.rejects(wrong, Object.assign(new Error(), { fault: 'failed', status: 400 }))
  t.match(answers, [{ status: 400, data: { encryptedResponse: String } }])
})
