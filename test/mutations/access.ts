import type { Changes } from './mutation.ts'

const keyring = 'test/core/access/keyring.test.ts'
const grants = 'test/core/access/grants.test.ts'

export const access: readonly Changes[] = [
  {
    file: 'core/access/keyring.ts',
    test: keyring,
    changes: [
      { breaks: 'A key ends with its time, though it was read just now.', from: ' && now < seen.expires', to: '' },
      {
        breaks: 'A revoked key is refused everywhere within five seconds.',
        from: 'const freshMs = 5_000',
        to: 'const freshMs = 5_001',
      },
      {
        breaks: 'A key that was read just now works while the store is down.',
        from: 'const freshMs = 5_000',
        to: 'const freshMs = 0',
      },
      { breaks: 'A clock that was set back keeps no key alive.', from: ' && seen.until - now <= freshMs', to: '' },
      {
        breaks: 'A test key opens nothing in production.',
        from: "      if (row.mode === 'test' && !testKeys) return null\n",
        to: '',
      },
      {
        breaks: 'A key that was revoked or has expired opens nothing.',
        from: ' || !lives(row, clock.now())) return null',
        to: ') return null',
      },
      {
        breaks: 'A key that was revoked or has expired is never changed.',
        from: "          if (!lives(key, clock.now())) throw new BadRequest('The key was revoked or has expired')\n",
        to: '',
      },
      {
        breaks: 'A change counts at once where it was made.',
        from: '        known.delete(done.id)\n        return done.row',
        to: '        return done.row',
      },
      {
        breaks: 'A key is refused at once where it was revoked.',
        from: '        known.delete(done.id)\n        return true',
        to: '        return true',
      },
      {
        breaks: 'A key is admitted from its addresses alone.',
        from: 'addresses === null || (address !== null && addresses.check(',
        to: 'addresses === null || address === null || (addresses.check(',
      },
      { breaks: 'A line of makers has eight at most.', from: 'const mostMakers = 8', to: 'const mostMakers = 9' },
      { breaks: 'A caller knows the limits of its makers.', from: '...(makers.length > 0 && { makers })', to: '...{}' },
    ],
  },
  {
    file: 'core/access/credential.ts',
    test: keyring,
    changes: [
      {
        breaks: 'The store holds the hash of a key alone.',
        from: "hash('sha256', credential, 'hex')",
        to: 'credential',
      },
      { breaks: 'A key says its mode.', from: '`sk_${mode}_', to: '`sk_live_' },
    ],
  },
  {
    file: 'core/access/grants.ts',
    test: grants,
    changes: [
      {
        breaks: 'A key stays in the team of its maker.',
        from: "  insist('team', own.team === null || team === own.team)\n",
        to: '',
      },
      {
        breaks: 'A caller makes up no team.',
        from: '!Object.hasOwn(teamsOf(own.organization, settings.organizations), team)',
        to: 'team === own.id',
      },
    ],
  },
  {
    file: 'core/access/key-row.ts',
    test: keyring,
    changes: [
      { breaks: 'A revoked key is dead.', from: 'revoked_at === null && (', to: '(' },
      { breaks: 'An expired key is dead at its time.', from: 'expires_at > now', to: 'expires_at >= now' },
      {
        breaks: 'A key of 1.0.0 with all scopes has the younger ones.',
        from: 'scopes: all ? scopes : row.scopes',
        to: 'scopes: row.scopes',
      },
      {
        breaks: 'A key of 1.0.0 that lacks a scope gets no younger one.',
        from: 'scopes: all ? scopes : row.scopes',
        to: 'scopes: scopes',
      },
    ],
  },
  {
    file: 'core/access/grants.ts',
    test: grants,
    changes: [
      {
        breaks: 'A new key has no scope that its maker lacks.',
        from: "  insist('scopes', hasAll(own, scopes))\n",
        to: '',
      },
      {
        breaks: 'A new key reaches no further than its maker.',
        from: '  for (const bound of bounds) insist(bound, isWithinBound(bound, reach, own, settings))\n',
        to: '',
      },
      {
        breaks: 'A key of another user takes its own scope.',
        from: "if (user !== own.user && !own.scopes.includes('api_key.delegate'))",
        to: 'if (user === null)',
      },
      { breaks: 'A new key tells its makers.', from: '[...own.makers, own.id]', to: '[own.id]' },
      {
        breaks: 'A key is widened by callers with every scope of it.',
        from: 'if (widens && !hasAll(own, key.scopes))',
        to: 'if (widens && false)',
      },
      {
        breaks: 'A key is widened as far as its caller reaches.',
        from: '      insist(bound, isWithinBound(bound, after, own, settings))\n',
        to: '',
      },
      { breaks: 'A key never ends before now.', from: 'expires_at <= now) {', to: 'expires_at < now) {' },
      {
        breaks: 'The last administrator is never narrowed.',
        from: 'leaves: narrows ? keyToLeave(own, settings, now)(key) : null',
        to: 'leaves: null',
      },
      {
        breaks: 'A test key stands for no live administrator.',
        from: "mode === 'live' || mode === key.mode",
        to: 'mode !== null',
      },
      {
        breaks: 'Who takes the place of an administrator has its scopes.',
        from: 'stands(other) && hasAll(other, key.scopes) && bounds',
        to: 'stands(other) && bounds',
      },
      {
        breaks: 'Who takes the place of an administrator reaches as far.',
        from: ' && bounds.every((bound) => isWithinBound(bound, key, other, settings))',
        to: '',
      },
    ],
  },
  {
    file: 'core/access/reach.ts',
    test: grants,
    changes: [
      {
        breaks: 'A list of models lies within another.',
        from: 'inner.models !== null && inner.models.every((model) => most.has(model))',
        to: 'inner.models !== null',
      },
      {
        breaks: 'All models lie within no list.',
        from: '(inner.models !== null && inner.models',
        to: '(inner.models === null || inner.models',
      },
      { breaks: 'A limit of its own is never lost.', from: 'return !lost && atMost', to: 'return atMost' },
      {
        breaks: 'No limit is more than every limit.',
        from: '(it !== null && it <= most)',
        to: '(it === null || it <= most)',
      },
      { breaks: 'A limit lies within its equal.', from: 'it <= most)', to: 'it < most)' },
    ],
  },
  {
    file: 'core/access/addresses.ts',
    test: grants,
    changes: [
      {
        breaks: 'All addresses lie within no list.',
        from: '  if (wanted === null) return false\n',
        to: '  if (wanted === null) return true\n',
      },
      { breaks: 'An address lies within ranges of its family alone.', from: 'it.family === family && ', to: '' },
      { breaks: 'A wider range lies within no narrower one.', from: ' && it.prefix <= prefix', to: '' },
    ],
  },
  {
    file: 'core/routes/whose.ts',
    test: 'test/sight.test.ts',
    changes: [
      {
        breaks: 'Only operators see other organisations.',
        from: 'if (!operators.includes(own)) throw',
        to: 'if (operators.length > 9) throw',
      },
      { breaks: 'Another organisation alone is shown.', from: 'asked === all ? null : asked', to: 'null' },
      {
        breaks: 'A caller without a word sees its own.',
        from: 'asked === undefined || asked === own',
        to: 'asked === own',
      },
    ],
  },
  {
    file: 'core/routes/usage.ts',
    test: 'test/sight.test.ts',
    changes: [
      {
        breaks: 'Usage is filtered by team.',
        from: 'Object.entries({ key, user, team })',
        to: 'Object.entries({ key, user })',
      },
    ],
  },
]
