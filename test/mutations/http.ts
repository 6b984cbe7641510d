import type { Changes } from './mutation.ts'

const test = 'test/core/http/limits.test.ts'

export const http: readonly Changes[] = [
  {
    file: 'core/http/concurrency.ts',
    test,
    changes: [
      {
        breaks: 'A place is renewed for as long as its request runs.',
        from: '    if (ticking) clock.alarm(ttl / 3, tick)\n',
        to: '    ticking = false\n',
      },
      { breaks: 'A place is renewed at all.', from: 'hold.place.renew()', to: 'Promise.resolve()' },
      {
        breaks: 'A place is renewed before its time is over.',
        from: 'clock.alarm(ttl / 3, tick)\n    ticking',
        to: 'clock.alarm(ttl * 3, tick)\n    ticking',
      },
      { breaks: 'A place that is left is free.', from: 'return place.release()', to: 'return Promise.resolve()' },
      {
        breaks: 'Nothing is renewed when no place is held.',
        from: 'if (unlink(holds, hold)) lane.held',
        to: 'lane.held',
      },
      {
        breaks: 'A caller without a place is refused.',
        from: 'if (place === null) {',
        to: 'if (place === null && lane.held < 0) {',
      },
    ],
  },
  {
    file: 'core/http/limits.ts',
    test,
    changes: [
      {
        breaks: 'A refused request tells what is left.',
        from: 'if (first !== undefined && !ofBytes) {',
        to: 'if (first !== undefined && spent.ok) {',
      },
      {
        breaks: 'A request that its bytes refuse says nothing of requests.',
        from: 'if (first !== undefined && !ofBytes) {',
        to: 'if (first !== undefined) {',
      },
      {
        breaks: 'A request beyond its allowance is refused.',
        from: 'if (!spent.ok) throw tooMany(ofBytes, spent.wait)',
        to: '',
      },
      {
        breaks: 'Bytes of a body are counted.',
        from: 'if (length > 0) charges.push',
        to: 'if (length < 0) charges.push',
      },
      {
        breaks: 'Bytes of a body without a length are counted.',
        from: 'if (spent !== null && !spent.ok) throw tooMany(true, spent.wait)',
        to: '',
      },
      {
        breaks: 'Requests of an organisation are counted over its keys.',
        from: '[`${kind}/organization/${caller.organization}`, all]',
        to: '[`${kind}/organization/${caller.key}`, all]',
      },
    ],
  },
  {
    file: 'core/http/body-budget.ts',
    test,
    changes: [
      { breaks: 'Bytes in memory are bounded for a key.', from: 'full(ofKey, room.key, bytes) ||', to: '' },
      {
        breaks: 'Bytes in memory are bounded for the process.',
        from: '        if (all > own && all + bytes > room.process) throw new Unavailable()\n',
        to: '',
      },
      {
        breaks: 'One body of a key is taken whatever its size.',
        from: 'if (others > 0 && (',
        to: 'if (others >= 0 && (',
      },
      { breaks: 'Bytes are given back.', from: 'add(ofKey, -own)', to: 'void ofKey' },
      {
        breaks: 'Bytes in memory are bounded for an organisation.',
        from: ' || full(ofOrganization, room.organization, bytes)',
        to: '',
      },
      {
        breaks: 'Bytes are given back to the organisation.',
        from: 'add(ofOrganization, -own)',
        to: 'void ofOrganization',
      },
      { breaks: 'Bytes are given back to the process.', from: '        all -= own\n', to: '' },
      { breaks: 'Bytes are given back once.', from: '        own = 0\n', to: '' },
    ],
  },
  {
    file: 'core/http/keyless.ts',
    test,
    changes: [
      {
        breaks: 'Requests without a key are bounded.',
        from: 'if (bucket.left < 1) throw',
        to: 'if (bucket.left < -9) throw',
      },
      { breaks: 'A network of IPv6 is one sender.', from: "address.split(':').slice(0, 4).join(':')", to: 'address' },
      { breaks: 'An address of IPv4 is one sender.', from: ' : address)', to: " : '')" },
      { breaks: 'An allowance refills with time.', from: '(Math.max(0, now - bucket.at) / 1000) * perSecond', to: '0' },
    ],
  },
  {
    file: 'core/http/body-intake.ts',
    test: 'test/core/http/bodies.test.ts',
    changes: [
      { breaks: 'A body that came whole is never lost.', from: 'if (!request.readableEnded) failed', to: 'failed' },
      {
        breaks: 'A body of exactly the limit is taken.',
        from: 'if (size > most) throw',
        to: 'if (size >= most) throw',
      },
      { breaks: 'A body without a length is bounded.', from: 'if (size > most) throw', to: 'if (size < 0) throw' },
    ],
  },
  {
    file: 'core/http/body.ts',
    test: 'test/core/http/bodies.test.ts',
    changes: [
      { breaks: 'A body of exactly the limit is read.', from: '?? 0) > most) throw', to: '?? 0) >= most) throw' },
    ],
  },
  {
    file: 'core/http/app.ts',
    test: 'test/core/http/bodies.test.ts',
    changes: [
      {
        breaks: 'A download that breaks in the store is cut.',
        from: 'if (ctx.res.headersSent || ctx.res.destroyed) return void ctx.res.destroy()',
        to: 'if (ctx.res.headersSent || ctx.res.destroyed) return',
      },
    ],
  },
  {
    file: 'core/http/http-errors.ts',
    test: 'test/core/http/retry-headers.test.ts',
    changes: [
      {
        breaks: 'Callers that wait at once are told different ms.',
        from: 'Math.ceil(retryAfter + fraction * span)',
        to: 'Math.ceil(retryAfter)',
      },
      {
        breaks: 'Callers that wait at once are told different seconds.',
        from: '(apart ? 0 : later)',
        to: '0',
      },
      {
        breaks: 'Clients hear where another try is in vain.',
        from: "isHopeless(it) ? { 'x-should-retry': 'false' } : {}",
        to: '{}',
      },
      { breaks: 'Who waits is let hope.', from: 'status === 429 || status === 503 ?', to: 'status === 429 ?' },
    ],
  },
  {
    file: 'core/http/cross-origin.ts',
    test: 'test/core/http/cross-origin.test.ts',
    changes: [
      { breaks: 'No other origin is told anything.', from: ' || !origins.includes(origin)', to: '' },
      { breaks: 'Administration and metrics are closed to every page.', from: ' || closed.test(path)', to: '' },
      {
        breaks: 'A cache keeps the answers to different origins apart.',
        from: "return { vary: 'origin' }",
        to: 'return {}',
      },
      {
        breaks: 'A path that no route has takes no request of a page.',
        from: " || methods === '') return null",
        to: ') return null',
      },
    ],
  },
]
