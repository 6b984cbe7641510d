import type { Changes } from './mutation.ts'

const journal = 'test/adapters/production/usage-journal.test.ts'
const sqlite = 'test/plugins/storage/sqlite.test.ts'
const sums = 'test/core/inference/metering/usage-sums.test.ts'
const tags = 'test/tags.test.ts'

export const usage: readonly Changes[] = [
  {
    file: 'core/inference/metering/usage-account.ts',
    test: journal,
    changes: [
      {
        breaks: 'A call that was under way when its process was killed counts as its guess.',
        from: "for (const [call, { place, guess }] of calls) account.note(['count', call, place, guess])",
        to: '',
      },
      { breaks: 'A line is kept before it counts.', from: 'journal.append(text)', to: 'text.at(0)' },
    ],
  },
  {
    file: 'core/inference/metering/usage-writer.ts',
    test: journal,
    changes: [
      {
        breaks: 'What was sent before a kill counts once.',
        from: '{ [by]: turn || null }',
        to: '{}',
      },
      {
        breaks: 'What was not known to be written is tried again.',
        from: "note([there ? 'sent' : 'back', name])\n",
        to: "book.sheets.delete(name)\n      note(['sent', name])\n",
      },
    ],
  },
  {
    file: 'core/inference/metering/ledger.ts',
    test: journal,
    changes: [
      {
        breaks: 'A call that another process counted is not counted again.',
        from: 'if (call !== null && it.keeps && !it.book.calls.has(call)) return',
        to: '',
      },
      {
        breaks: 'A process that stood still finds out before it counts again.',
        from: 'if (clock.now() - beatAt > safeMs) beat()',
        to: '',
      },
      { breaks: 'A killed process leaves its counts to another one.', from: 'taken.push(next.account)', to: '' },
    ],
  },
  {
    file: 'adapters/production/usage-journal.ts',
    test: journal,
    changes: [
      { breaks: 'A line without an end was never kept.', from: ".split('\\n').slice(0, -1)", to: ".split('\\n')" },
      {
        breaks: 'A journal is its owner’s alone.',
        from: "let descriptor = openSync(file, 'a', 0o600)",
        to: "let descriptor = openSync(file, 'a', 0o644)",
      },
      {
        breaks: 'A process that is silent for a minute is gone.',
        from: 'silenceMs = 60_000',
        to: 'silenceMs = 90_000',
      },
      {
        breaks: 'A process that is gone is found out at once.',
        from: '!lives(Number(pid))) return true',
        to: '!lives(Number(pid))) return false',
      },
    ],
  },
  {
    file: 'core/inference/metering/usage-fold.ts',
    test: sums,
    changes: [
      {
        breaks: 'Counts that are written late reach the sums of their day.',
        from: 'if (cursor !== null && (await foldLates(tables, cursor))) cursor = await moved(rows, cursor, {})',
        to: '',
      },
      {
        breaks: 'Sums that were read meanwhile are read again.',
        from: ' cursor = await moved(rows, cursor, {})',
        to: ' void cursor',
      },
      {
        breaks: 'Counts that are written late reach the sums of their month.',
        from: 'if (endOfMonth(monthOf(day)) <= folded) await foldMonth(tables, { organization, month: monthOf(day), turn })',
        to: '',
      },
    ],
  },
  {
    file: 'core/inference/metering/usage-fold.ts',
    test: sums,
    changes: [
      { breaks: 'Sums of a later reading take the place of earlier ones.', from: 'turn: turn + 1', to: 'turn' },
      {
        breaks: 'A look without work leaves the turn.',
        from: '(await latesUntil(rows, known.day)).length === 0) return',
        to: '(await latesUntil(rows, known.day)).length < 0) return',
      },
    ],
  },
  {
    file: 'core/inference/metering/fold-tables.ts',
    test: sums,
    changes: [
      {
        breaks: 'Tables have backends and tags, too.',
        from: "const sharedGroupings = ['backend', 'tag']",
        to: "const sharedGroupings = ['backend']",
      },
      {
        breaks: 'A month is made from all of its organisations.',
        from: 'names.splice(0, readAtOnce)',
        to: 'names.splice(0, names.length).slice(1)',
      },
    ],
  },
  {
    file: 'core/row-sums.ts',
    test: sqlite,
    changes: [
      { breaks: 'A report goes on until its limit of sums.', from: 'count += sums.length', to: 'count += limit' },
      { breaks: 'A report begins after a text.', from: 'after !== undefined && name <= after', to: 'name === after' },
    ],
  },
  {
    file: 'plugins/storage/postgres/reports.ts',
    test: 'test/plugins/storage/postgres.test.ts',
    changes: [{ breaks: 'A report ends at its limit of sums.', from: 'where before < ', to: 'where before <= ' }],
  },
  {
    file: 'plugins/storage/sqlite/statement.ts',
    test: sqlite,
    changes: [
      {
        breaks: 'A range walks the index that begins with its field.',
        from: 'isIndexed(kind, query) ? ',
        to: 'isIndexed(kind, {}) ? ',
      },
      {
        breaks: 'Rows of a kind without such an index are found by their kind.',
        from: 'indexes.some(([first]) => first === field)',
        to: 'indexes.length >= 0',
      },
      { breaks: 'A range of ids is the smaller one.', from: '!prefix && indexes', to: 'indexes' },
    ],
  },
  {
    file: 'core/inference/metering/remembered-sums.ts',
    test: 'test/core/inference/metering/remembered-sums.test.ts',
    changes: [
      { breaks: 'Sums are read once in a turn.', from: 'ofTurn.keep(question, sums, Infinity)', to: '' },
      { breaks: 'Sums of another turn are read again.', from: '[turn, memory] = [now, sumMemory()]', to: 'turn = now' },
      {
        breaks: 'Sums of a turn that is over are not kept.',
        from: 'ofTurn.keep(question, sums, Infinity)',
        to: 'memory.keep(question, sums, Infinity)',
      },
      { breaks: 'A long reading is given again.', from: 'timesReading * tookMs', to: '0' },
      { breaks: 'A short reading is made anew.', from: 'tookMs > shortReadingMs', to: 'tookMs > 0' },
      {
        breaks: 'No reading is older than half a minute.',
        from: 'Math.min(mostRecentMs, timesReading * tookMs)',
        to: 'timesReading * tookMs',
      },
      { breaks: 'An old list of sums is forgotten.', from: 'if (until > now) continue', to: 'continue' },
      { breaks: 'The memory of sums has a bound.', from: 'names + sums.length >= mostNames', to: 'false' },
      { breaks: 'A list that is kept twice counts once.', from: 'known.has(question) || ', to: '' },
      { breaks: 'A forgotten list leaves its room.', from: 'names -= 1 + sums.length', to: '' },
    ],
  },
  {
    file: 'core/inference/metering/usage-sums.ts',
    test: sums,
    changes: [
      {
        breaks: 'Days without sums are added up from their rows.',
        from: '...open.map((',
        to: '...open.slice(1).map((',
      },
      {
        breaks: 'A report that takes too long names a shorter span.',
        from: 'cause instanceof Overdue ? overdue(question, cause) : cause',
        to: 'cause',
      },
    ],
  },
  {
    file: 'core/inference/metering/spans.ts',
    test: sums,
    changes: [{ breaks: 'A whole month is one row.', from: "from.endsWith('-01')", to: 'false' }],
  },
  {
    file: 'core/access/tags.ts',
    test: tags,
    changes: [
      { breaks: 'A request has eight tags at most.', from: 'const most = 8', to: 'const most = 9' },
      { breaks: 'A name stands once among the tags.', from: 'names.size !== tags.length || ', to: '' },
      { breaks: 'A tag has a narrow alphabet.', from: '=([A-Za-z0-9][\\w.-]{0,63})$/', to: '=(.{1,64})$/' },
    ],
  },
  {
    file: 'core/http/pipeline.ts',
    test: tags,
    changes: [
      {
        breaks: 'Every door counts under tags.',
        from: 'caller && taggedCaller(caller, ctx.req.headers[tagHeader])',
        to: 'caller && (taggedCaller(caller, ctx.req.headers[tagHeader]), caller)',
      },
    ],
  },
  {
    file: 'core/inference/metering/usage-writer.ts',
    test: tags,
    changes: [{ breaks: 'An organisation has a hundred tags a day.', from: 'mostTags = 100', to: 'mostTags = 101' }],
  },
  {
    file: 'core/routes/usage-sums.ts',
    test: tags,
    changes: [
      {
        breaks: 'Only operators see sums of other organisations.',
        from: 'organizationFor(caller, query.organization, settings)',
        to: 'query.organization ?? caller.organization',
      },
    ],
  },
  {
    file: 'adapters/production/commands/seal/tags.ts',
    test: tags,
    changes: [{ breaks: 'The sealing proxy passes tags on.', from: 'headers.set(tagHeader, tags)', to: '' }],
  },
]
