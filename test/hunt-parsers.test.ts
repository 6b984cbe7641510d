import './fakes/unwatched.ts'
import t from 'tap'
import { Unreadable } from '../core/errors.ts'
import { endOf, startLimited } from '../plugins/shared/limited-process.ts'
import { runApart } from '../plugins/shared/run-apart.ts'
import type { Kind } from './lab/hunt/file-kinds.ts'
import type { Parser } from './lab/hunt/file-parsers.ts'
import { type Found, chosen, huntParsers } from './lab/hunt/hunt-parsers.ts'

const job = (input: unknown) => ({ job: '../test/fakes/breaking-parser', input })

const breaking: Parser = {
  tool: '',
  read: (file, signal) => runApart(job(file).job, file, signal),
  job,
  boundMs: 10_000,
}

/** A kind whose first files do this, one after another. */
const kindOf = (acts: readonly string[], parser = breaking): Kind => {
  const next = acts.values()
  return {
    name: acts[0]!,
    parser,
    whole: async () => Buffer.from('fine'),
    make: async () => Buffer.from(next.next().value!),
  }
}

const found = async (acts: readonly string[], parser = breaking): Promise<Found> => {
  const all = []
  for await (const finding of huntParsers(acts.length, 1, [kindOf(acts, parser)])) all.push(finding)
  return all[0]!
}

t.test('files that share a process are read or refused as if each was alone', async (t) => {
  t.match(await found(['fine', 'refused', 'fine', 'fine']), { read: 3, refused: 1, wrong: [] })
  t.match(await found(['takes a global away', 'needs a global']), { read: 2, refused: 0, wrong: [] })
  t.match(await found(['poisons those behind it', 'fine', 'fine']), { read: 3, refused: 0, wrong: [] })
})

t.test('a parser that breaks is noticed, whatever else shares its process', async (t) => {
  for (const [act, end] of [
    // The first process of a room takes no SIGABRT of its own, and ends by what follows.
    ['aborts', 'crashed: SIG(?:ABRT|SEGV|ILL|TRAP)'],
    ['leaves', 'crashed: exit code 3'],
    ['rejects', 'crashed: exit code 1'],
    ['finds no engine', 'Unconfigured'],
  ] as const)
    t.match(await found(['fine', act, 'refused']), { read: 1, refused: 1, wrong: [new RegExp(`: ${end}$`)] }, act)
})

t.test('a file that was slow beside others is read alone, and one that its reader ends is noticed', async (t) => {
  const impatient = { ...breaking, boundMs: 90 }
  t.match(await found(['takes long', 'fine'], impatient), { read: 2, wrong: [] })
  t.match(await found(['takes too long', 'fine'], impatient), { read: 1, refused: 0, wrong: [/: ended after \d+ ms$/] })
  const played = await found(['poisons those behind it', 'waits too long'], impatient)
  t.match(played, { read: 1, refused: 1, wrong: [] }, 'waiting is no work')
})

t.test('a decoder that a file crashes is noticed, and one that refuses it is not', async (t) => {
  const decoder: Parser = {
    ...breaking,
    job: null,
    async read({ bytes }, signal) {
      const given = ['-c', Buffer.from(bytes).toString()]
      const child = await startLimited({ program: '/bin/sh', given, work: 10, patience: 10_000 }, 'ignore', signal)
      if ((await endOf(child, signal)) !== 'fine') throw new Unreadable()
    },
  }
  const { wrong, ...rest } = await found(
    ['exit 0', 'exit 1', `exec perl -e 'unpack("p", pack("Q", 8))'`, 'exit 1'],
    decoder,
  )
  t.match(rest, { read: 1, refused: 2 })
  t.match(wrong, [/: crashed: SIGSEGV$/])
})

t.test('a kind that there is not is no kind', async (t) => {
  t.throws(() => chosen(['yaml', 'yam']), { message: 'No such kinds: yam' })
  t.equal(chosen(['yaml']).length, 1)
})
