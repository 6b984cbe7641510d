import type { Changes } from './mutation.ts'

const test = 'test/core/access/logins.test.ts'

export const logins: readonly Changes[] = [
  {
    file: 'core/access/token.ts',
    test,
    changes: [
      { breaks: 'A long token is not read.', from: '  if (token.length > mostCharacters) return null\n', to: '' },
    ],
  },
  {
    file: 'core/access/token-flaws.ts',
    test,
    changes: [
      {
        breaks: 'Only algorithms of the configuration count.',
        from: "  if (!issuer.algorithms.some((it) => it === alg)) return tokenFlaw('algorithm')\n",
        to: '',
      },
      {
        breaks: 'Only access tokens count.',
        from: "  if (!issuer.types.some((it) => it.toLowerCase() === type)) return tokenFlaw('type')\n",
        to: '',
      },
      {
        breaks: 'A critical extension is refused.',
        from: "  if (crit !== undefined) return tokenFlaw('critical')\n",
        to: '',
      },
      {
        breaks: 'An ID token gives no access.',
        from: 'identities.some((name) => Object.hasOwn(claims, name)) || ',
        to: '',
      },
      { breaks: 'Nor does one that says so in a claim.', from: " || isIdentity(claims['typ'])\n    ?", to: ' ?' },
      {
        breaks: 'A lifetime has its cap.',
        from: "  if ((exp - iat) * 1000 > lifetime) return tokenFlaw('lifetime')\n",
        to: '',
      },
      { breaks: 'A token ends with its time and the skew.', from: 'over >= skew', to: 'over > skew' },
      { breaks: 'A token begins with its time.', from: 'Math.max(nbf, iat)', to: 'iat' },
      { breaks: 'A token is not from the future.', from: 'Math.max(nbf, iat)', to: 'nbf' },
      { breaks: 'A token has times.', from: '!isTime(exp) || !isTime(iat)', to: '!isTime(iat)' },
    ],
  },
  {
    file: 'core/access/token-signature.ts',
    test,
    changes: [
      {
        breaks: 'A token is signed by its issuer.',
        from: '    await compactVerify(token, jwk, { algorithms: [algorithm] })\n',
        to: '    void [compactVerify, token, jwk, algorithm]\n',
      },
    ],
  },
  {
    file: 'core/access/public-keys.ts',
    test,
    changes: [
      { breaks: 'A key serves its kind of algorithm alone.', from: 'verifies && isKind && ', to: 'verifies && ' },
    ],
  },
  {
    file: 'core/access/proved-logins.ts',
    test,
    changes: [
      {
        breaks: 'A token is for our audience.',
        from: "its.find(([, { audience }]) => hasAudience(token, audience)) ?? 'audience'",
        to: "its[0] ?? 'audience'",
      },
      {
        breaks: 'A token of no issuer asks nobody.',
        from: "issuers.filter(([, { issuer }]) => issuer === token.claims['iss'])",
        to: 'issuers',
      },
      {
        breaks: 'A token that was found ends with its time.',
        from: 'Math.min(now + freshMs, over)',
        to: 'now + freshMs',
      },
      {
        breaks: 'A token that was found is found again.',
        from: 'const freshMs = 5_000',
        to: 'const freshMs = 0',
      },
    ],
  },
  {
    file: 'core/access/complaining.ts',
    test,
    changes: [{ breaks: 'The log has a line for many.', from: 'return void last.more++', to: 'last.more++' }],
  },
  {
    file: 'core/bounded-body.ts',
    test,
    changes: [{ breaks: 'A list of keys has an end.', from: 'size > most', to: 'size < 0' }],
  },
  {
    file: 'core/access/issuer-keys.ts',
    test,
    changes: [
      {
        breaks: 'Unknown names of keys ask seldom.',
        from: 'since >= 0 && since < restMs) return',
        to: 'since < 0) return',
      },
      { breaks: 'A rotated key is asked for.', from: '    if (suited() === null) await renew()\n', to: '' },
      { breaks: 'Questions at once are one.', from: 'flight ??= refetch()', to: 'flight = refetch()' },
      {
        breaks: 'Old keys end.',
        from: "      if (isAged(kept)) throw new Unavailable('The keys of the issuer are out of reach')\n",
        to: '',
      },
      {
        breaks: 'Old keys count while the issuer is down.',
        from: 'const kept = 60 * minute',
        to: 'const kept = minute',
      },
      { breaks: 'Keys are renewed in time.', from: ' else if (isAged(freshMs)) void renew()', to: '' },
      {
        breaks: 'An unknown key is no fault of the caller while nobody can be asked.',
        from: 'found === null && !reached',
        to: 'found === null && reached === null',
      },
      { breaks: 'A silent issuer is given up.', from: 'const patienceMs = 5_000', to: 'const patienceMs = 50_000' },
      { breaks: 'Only a list is a list.', from: 'answer.status !== 200', to: 'answer.status >= 400' },
    ],
  },
  {
    file: 'core/access/person.ts',
    test,
    changes: [
      { breaks: 'A grant asks for all of its claims.', from: '.every(([claim, value])', to: '.some(([claim, value])' },
      { breaks: 'Nobody is called like the hash of another.', from: ' && !whole.startsWith(hashed)', to: '' },
      { breaks: 'Scopes are in the claim too.', from: 'given.filter((scope) => listed.has(scope))', to: 'given' },
      {
        breaks: 'A person of another organisation is another one.',
        from: '[name, organization, user]',
        to: '[name, user]',
      },
      { breaks: 'Users of issuers are apart.', from: 'prefix = `${name}.`', to: "prefix = ''" },
    ],
  },
  {
    file: 'core/http/access.ts',
    test: 'test/logins.test.ts',
    changes: [
      {
        breaks: 'People call with tokens.',
        from: '    if (logins.takes(credential)) return personWith(credential, logins)\n',
        to: '',
      },
    ],
  },
]
