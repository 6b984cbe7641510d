import type { Changes } from './mutation.ts'

const test = 'test/core/files/file-store.test.ts'

export const files: readonly Changes[] = [
  {
    file: 'core/files/sweep.ts',
    test,
    changes: [
      {
        breaks: 'The sweep leaves bytes of an upload that is under way.',
        from: 'its === null || its.since > clock.now() - grace',
        to: 'its === null',
      },
      {
        breaks: 'The sweep takes the configured grace.',
        from: 'grace: number = settings.files.grace',
        to: 'grace: number = 0',
      },
      {
        breaks: 'The sweep leaves bytes of somebody else.',
        from: 'if (its === null || its.since > clock.now() - grace) continue',
        to: 'if (its !== null && its.since > clock.now() - grace) continue\n        if (its === null) { await blobs.remove(path); continue }',
      },
      {
        breaks: 'The sweep leaves the bytes of a record.',
        from: 'if (row?.file_path === path || row?.rag_path === path) continue',
        to: 'void row',
      },
      {
        breaks: 'Incognito files go when their time is over, and not before.',
        from: "{ field: 'expires_at', to: clock.now() }",
        to: "{ field: 'expires_at', to: clock.now() + 5_000 }",
      },
      { breaks: 'The sweep counts stored bytes anew.', from: '      await stored.recount()\n', to: '' },
      {
        breaks: 'An expired file takes its bytes with it.',
        from: '          await blobs.remove(row.file_path)\n          if (row.rag_path !== null) await blobs.remove(row.rag_path)\n          count++',
        to: '          count++',
      },
    ],
  },
  {
    file: 'core/files/file-store.ts',
    test,
    changes: [
      {
        breaks: 'A key is rewrapped only over the key that its writer read.',
        from: 'rows.update(files, id, change, { kid: old_kid })',
        to: 'rows.update(files, id, change)',
      },
      {
        breaks: 'A binding is written only over the key that it binds.',
        from: '{ binding, updated_at: clock.now() }, { kid, wrapped_dek })',
        to: '{ binding, updated_at: clock.now() })',
      },
      {
        breaks: 'A rewrap names the key of the record.',
        from: '        if (row.kid !== old_kid) throw wrongKey()\n',
        to: '',
        equivalent: 'The condition of the write refuses the same; the line spares it the claim of a hash.',
      },
      { breaks: 'A file of another user does not exist.', from: ' || row.user !== user', to: '' },
      {
        breaks: 'A file of another organisation does not exist.',
        from: ' || row.organization !== organization',
        to: '',
      },
      { breaks: 'A file whose time is over does not exist.', from: 'row === null || over ||', to: 'row === null ||' },
      {
        breaks: 'A list shows files of its owner alone.',
        from: '{ ...query.where, organization, user, listed: true }',
        to: '{ ...query.where, listed: true }',
      },
      {
        breaks: 'Incognito files are never listed.',
        from: '{ ...query.where, organization, user, listed: true }',
        to: '{ ...query.where, organization, user }',
      },
      {
        breaks: 'An id that a client chooses is timely.',
        from: 'if (!isTimely(id, clock.now()) || (await rows.get(files, id)) !== null)',
        to: 'if ((await rows.get(files, id)) !== null)',
      },
      {
        breaks: 'An id that a client chooses is new.',
        from: 'if (!isTimely(id, clock.now()) || (await rows.get(files, id)) !== null)',
        to: 'if (!isTimely(id, clock.now()))',
      },
      {
        breaks: 'A rewrap frees the old hash.',
        from: '        if (row.client_hash !== null && row.client_hash !== hash) await claims.release(owner, row.client_hash, id)\n',
        to: '',
      },
      {
        breaks: 'A file beyond the quota leaves no bytes.',
        from: '        if (hash !== null) await claims.release(row, hash, id)\n        await blobs.remove(file_path)\n',
        to: '        if (hash !== null) await claims.release(row, hash, id)\n',
      },
    ],
  },
  {
    file: 'core/files/upload.ts',
    test,
    changes: [
      { breaks: 'A file of exactly the limit is taken.', from: 'if (length > most)', to: 'if (length >= most)' },
      {
        breaks: 'A file above the limit is refused.',
        from: 'if (length > most)',
        to: 'if (length > most + 1)',
      },
      { breaks: 'A file without content is refused.', from: '    if (length === 0) throw empty()\n', to: '' },
    ],
  },
  {
    file: 'core/files/deduplication.ts',
    test,
    changes: [
      {
        breaks: 'A hash belongs to its holder for as long as its lease.',
        from: 'const over = claim.until === null || claim.until < clock.now()',
        to: 'const over = true',
      },
      {
        breaks: 'A hash whose lease is over is free.',
        from: 'const over = claim.until === null || claim.until < clock.now()',
        to: 'const over = claim.until === null',
      },
      {
        breaks: 'Equal files are stored once.',
        from: '        if (found !== null) return found\n',
        to: '        if (found !== null) return null\n',
      },
    ],
  },
  {
    file: 'core/files/quota.ts',
    test,
    changes: [
      { breaks: 'The quota bounds bytes.', from: "(['bytes', 'files'] as const)", to: "(['files'] as const)" },
      { breaks: 'The quota bounds files.', from: "(['bytes', 'files'] as const)", to: "(['bytes'] as const)" },
      {
        breaks: 'The last byte of a quota may be used.',
        from: '(now[unit] ?? 0) > (quota',
        to: '(now[unit] ?? 0) >= (quota',
      },
      {
        breaks: 'A refused file is not counted.',
        from: '      await add(organization, -bytes, -1)\n      throw',
        to: '      throw',
      },
      {
        breaks: 'A removed file is counted no more.',
        from: 'void (await add(organization, -bytes, -1)),',
        to: 'void (organization + bytes),',
      },
    ],
  },
  {
    file: 'core/files/record.ts',
    test,
    changes: [
      { breaks: 'An abandoned indexing is shown as failed.', from: 'rag_until < now', to: 'false' },
      {
        breaks: 'An index that is complete stays complete.',
        from: " && (rag_status === 'running' || rag_status === 'pending')",
        to: '',
      },
      { breaks: 'A client chooses an id of now.', from: ' <= skew', to: ' <= 2 * skew' },
      {
        breaks: 'Bytes are as old as the gateway says.',
        from: "path.split('/').at(-1)?.split('.').at(-2) ?? ''",
        to: 'first',
      },
      { breaks: 'Bytes of another name are none of ours.', from: '(?:enc|idx)$`', to: '(?:enc|idx)`' },
    ],
  },
]
