import t from 'tap'
import { use } from '../../../../core/plugin.ts'
import { Fetch } from '../../../../core/ports/platform.ts'
import { UpstreamFailed } from '../../../../core/errors.ts'
import { fetch } from '../../../../adapters/production/platform.ts'
import { clock as memoryClock, random } from '../../../../adapters/memory/platform.ts'
import { signIn } from '../../../../plugins/providers/shared/sign-in.ts'
import { fakeClock } from '../../../fakes/clock.ts'
import type { Take } from '../../../fakes/recorded.ts'
import { backend, type Lasting } from '../../../contracts/stage.ts'
import { never } from '../../../fakes/vendor.ts'
import { failed } from '../../../helpers.ts'
import { fitted } from '../../../fitted.ts'

const minute = 60_000

/** A sign-in in front of a real server, in a time that passes when told to. */
const opened = async (t: Lasting, play: (tokens: number) => Take | Promise<Take>) => {
  const server = await backend(t, () => play(server.asked.length))
  const container = fitted(use(memoryClock), use(random), use(fetch))
  t.teardown(() => container.dispose())
  const clock = fakeClock()
  const door = container.supply({ fetch: Fetch }).fetch
  return {
    clock,
    server,
    tokens: signIn({ fetch: door, clock }, () => ({ url: server.url, method: 'POST', body: 'a=b' })),
  }
}

const given = (lasts: unknown) => (tokens: number) => ({
  body: JSON.stringify({ access_token: `token-${tokens}`, expires_in: lasts }),
})

t.test('a token is renewed shortly before its end', async (t) => {
  const { clock, tokens } = await opened(t, given(3600))
  t.equal(await tokens.token(never), 'token-1')
  await clock.pass(54 * minute)
  t.equal(await tokens.token(never), 'token-1')
  await clock.pass(2 * minute)
  t.equal(await tokens.token(never), 'token-2')
  t.equal(clock.armed(), 0, 'nothing is left behind')
})

t.test('a short life has a short margin', async (t) => {
  const { clock, tokens } = await opened(t, given('60'))
  await tokens.token(never)
  await clock.pass(40_000)
  t.equal(await tokens.token(never), 'token-1')
  await clock.pass(10_000)
  t.equal(await tokens.token(never), 'token-2')
})

t.test('many callers share one sign-in, and one that leaves ends it for nobody', async (t) => {
  let answer: (take: Take) => void = () => {}
  const answered = new Promise<Take>((resolve) => (answer = resolve))
  const { tokens, server } = await opened(t, () => answered)
  const leaving = new AbortController()
  const left = tokens.token(leaving.signal)
  const stays = [tokens.token(never), tokens.token(never)]
  while (server.asked.length === 0) await new Promise(setImmediate)
  leaving.abort(new Error('enough'))
  answer(given(3600)(1))
  await t.rejects(left, { message: 'enough' })
  t.same(await Promise.all(stays), ['token-1', 'token-1'])
  t.equal(server.asked.length, 1)
})

t.test('only the token that was refused is forgotten', async (t) => {
  const { tokens } = await opened(t, given(3600))
  await tokens.token(never)
  tokens.forget('another')
  t.equal(await tokens.token(never), 'token-1')
  tokens.forget('token-1')
  t.equal(await tokens.token(never), 'token-2')
})

t.test('answers that are no token', async (t) => {
  for (const body of [
    '<html>',
    '{}',
    '{"access_token":"","expires_in":9}',
    '{"access_token":"x","expires_in":"soon"}',
  ]) {
    const { tokens } = await opened(t, () => ({ body }))
    t.match(await failed(tokens.token(never)), { constructor: UpstreamFailed, again: true }, body)
  }
  const { tokens } = await opened(t, () => ({ status: 429, headers: { 'retry-after': '3' }, body: 'secret' }))
  const full = { constructor: UpstreamFailed, again: true, answered: null, retryAfter: 3000 }
  t.match(await failed(tokens.token(never)), full, 'a busy sign-in is no busy model')
})

t.test('a sign-in that hangs ends by itself', async (t) => {
  const { clock, tokens, server } = await opened(t, () => ({ body: '', pace: 'silent' }))
  const waiting = failed(tokens.token(never))
  while (server.asked.length === 0) await new Promise(setImmediate)
  await clock.pass(10_000)
  t.match(await waiting, { constructor: UpstreamFailed, again: true })
})
