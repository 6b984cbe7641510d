import t from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { createGateway } from '../core/gateway.ts'
import { connect } from '../plugins/sealed/client/client.ts'
import { newKek, newRagDek } from '../plugins/sealed/client/keys.ts'
import { servesGateway } from './fakes/listening.ts'

t.test('parts in memory alone serve all twelve groups of routes', async (t) => {
  const gateway = createGateway(memory())
  const baseUrl = await servesGateway(t, gateway)
  const { credential: apiKey } = await gateway.keys.create({})
  const kek = newKek()
  const client = connect({ baseUrl, apiKey, kek, wrappedRagDek: newRagDek(kek), policy: { allowInsecureDev: true } })
  const answer = async (path: string, body?: object): Promise<any> => {
    const got = await fetch(baseUrl + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    t.equal(got.status, 200, path)
    return got.json()
  }
  const names = ({ data }: { readonly data: readonly { readonly name: string }[] }) => data.map(({ name }) => name)
  const messages = [{ role: 'user', content: 'canary' }]

  const questions = { pet: { type: 'choice', instructions: 'Who sleeps?', criteria: { dog: 'A dog', cat: 'A cat' } } }
  const decided = await answer('/compat/v1/decision', {
    ...{ model: 'rehearsal-decision', state: 'The cat sleeps.', questions },
  })
  t.equal(decided.answers.pet.choice, 'cat')
  t.ok(names(await answer('/compat/v1/models')).includes('rehearsal-decision'))
  const chat = await answer('/std/chat/completions', { model: 'rehearsal', messages })
  t.match(chat.choices[0].message.content, /canary$/)
  t.ok(names(await answer('/std/models')).includes('rehearsal'))
  t.ok(names(await answer('/rvenc/models')).includes('rehearsal-transcription'))
  const sealed = await client.chat.completions.create({ model: 'rehearsal', messages })
  t.match(JSON.stringify(sealed), /canary/)
  const heard = await client.audio.transcriptions.create({
    model: 'rehearsal-transcription',
    file: new File([new Uint8Array(64)], 'a.wav', { type: 'audio/wav' }),
  })
  t.match(JSON.stringify(heard), /The sound has 64 bytes/)
  t.ok((await answer('/tools')).data.length > 10)
  t.match(await client.tools.call('getTime', { timezone: 'Europe/Paris' }), { timezone: 'Europe/Paris' })
  const heron = new File(['The heron waits.'], 'heron.txt', { type: 'text/plain' })
  const { id } = await client.files.upload(heron)
  t.equal((await client.files.list()).files.length, 1)
  t.match(await client.files.index([id]), [{ file_id: id, success: true }])
})
