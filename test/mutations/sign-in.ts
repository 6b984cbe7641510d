import type { Changes } from './mutation.ts'

const whole = 'test/console-sign-in.test.ts'
const sessions = 'test/core/access/console-sessions.test.ts'

export const signIns: readonly Changes[] = [
  {
    file: 'core/access/console-sessions.ts',
    test: sessions,
    changes: [
      {
        breaks: 'A link is given to one process.',
        from: 'link === null || !(await rows.remove(links, credentialHash(secret)))',
        to: 'link === null',
      },
      { breaks: 'A link lasts five minutes.', from: 'const linkMs = 300_000', to: 'const linkMs = 300_001' },
      { breaks: 'A session ends with its time.', from: 'now < row.expires_at ?', to: 'true ?' },
      {
        breaks: 'Signing out ends a session.',
        from: '      await rows.remove(sessions, credentialHash(credential))\n',
        to: '',
      },
      {
        breaks: 'The store has the hash of a session.',
        from: 'rows.create(sessions, credentialHash(credential),',
        to: 'rows.create(sessions, credential,',
      },
    ],
  },
  {
    file: 'adapters/production/commands/console-link.ts',
    test: sessions,
    changes: [
      { breaks: 'Another machine gets no link.', from: 'isLoopback(address) && ', to: '' },
      { breaks: 'A link needs a console.', from: " && surfaces.includes('console')", to: '' },
    ],
  },
  {
    file: 'plugins/surfaces/console/sign-in.ts',
    test: whole,
    changes: [
      {
        breaks: 'No page of another origin redeems a link.',
        from: 'if (isForeign(headers)) throw new Unauthorized()\n    const link',
        to: 'const link',
      },
      {
        breaks: 'No page of another origin exchanges a code.',
        from: 'if (isForeign(headers)) throw new Unauthorized()\n    const token',
        to: 'const token',
      },
      {
        breaks: 'The origin of an old browser counts.',
        from: 'return origin !== undefined && ',
        to: 'return false && ',
      },
      { breaks: 'Another port is another origin.', from: "site !== 'same-origin'", to: "site === 'cross-site'" },
      { breaks: 'Five attempts a second are looked at.', from: 'const attempts = 5', to: 'const attempts = 50' },
    ],
  },
  {
    file: 'core/http/cross-origin.ts',
    test: whole,
    changes: [
      { breaks: 'The console is closed to other origins.', from: 'admin|console|metrics', to: 'admin|metrics' },
    ],
  },
  {
    file: 'core/access/id-token.ts',
    test: whole,
    changes: [
      { breaks: 'An ID token is of this login.', from: "claims['nonce'] !== nonce", to: 'false' },
      { breaks: 'An ID token is of this issuer.', from: "claims['iss'] !== issuer.issuer", to: 'false' },
      { breaks: 'An ID token is for this client.', from: '!hasAudience(token, client) || ', to: '' },
      { breaks: 'An ID token is for no other client.', from: ' || azp !== client', to: '' },
      { breaks: 'An ID token ends.', from: '  if (late !== null) return late\n', to: '' },
      {
        breaks: 'An ID token is signed by its issuer.',
        from: 'key !== null && isSigned(text, key, algorithm)',
        to: 'key !== null',
      },
    ],
  },
  {
    file: 'core/access/exchanged-codes.ts',
    test: whole,
    changes: [
      {
        breaks: 'An answer of another issuer is refused.',
        from: 'proof.iss !== undefined && proof.iss !== issuer.issuer',
        to: 'false',
      },
      {
        breaks: 'An issuer gives no token of another one.',
        from: 'iss !== issuer.issuer) return tokenFlaw',
        to: 'iss === null) return tokenFlaw',
      },
      {
        breaks: 'A token that opens nothing is not handed on.',
        from: '(await logins.find(access)) !== null',
        to: '(await logins.find(access)) !== undefined',
      },
      { breaks: 'A code is bound to its tab.', from: ' code_verifier: verifier,', to: " code_verifier: ''," },
      {
        breaks: 'A fault of the issuer is no refusal.',
        from: "answer.status === 400 && tokens['error'] === 'invalid_grant'",
        to: 'answer.status >= 400',
      },
      {
        breaks: 'An answer of an issuer has an end.',
        from: 'const mostBytes = 64 * 1024',
        to: 'const mostBytes = 1024 * 1024',
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser/login.ts',
    test: whole,
    changes: [
      {
        breaks: 'A tab takes the answer to its own login alone.',
        from: "query.get('state') !== departure.state",
        to: 'false',
      },
      { breaks: 'A tab forgets a login with its answer.', from: '  storage.removeItem(slot)\n', to: '' },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser/arrival.ts',
    test: whole,
    changes: [{ breaks: 'An address forgets the link.', from: "  history.replaceState(null, '', pathname)\n", to: '' }],
  },
  {
    file: 'plugins/surfaces/console/browser/main.ts',
    test: whole,
    changes: [
      {
        breaks: 'Signing out ends a session at the gateway.',
        from: 'if (why === null && pass !== null && isOfLink(pass)) void revoke(pass)',
        to: 'void revoke',
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/first-view.ts',
    test: 'test/console.test.ts',
    changes: [
      {
        breaks: 'What is shown first is named first.',
        from: 'first.add(posix.join(posix.dirname(name), to))',
        to: 'void [posix, to]',
      },
    ],
  },
]
