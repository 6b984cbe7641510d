import './fakes/unwatched.ts'
import { createHash, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import store from '../adapters/memory/metadata-store.ts'
import { type LogTree, logTree } from '../plugins/sealed/log/log-tree.ts'
import { tilesIn } from '../plugins/sealed/log/tiles.ts'
import { connect } from '../plugins/sealed/client/client.ts'
import { checkProof } from '../plugins/sealed/client/receipt-log.ts'
import type { CheckedReceipt } from '../plugins/sealed/client/receipts.ts'
import { receiptSigner } from '../plugins/sealed/enclave/receipts.ts'
import { headSigning } from '../plugins/sealed/enclave/log-heads.ts'
import { toHex } from '../plugins/sealed/wire/bytes.ts'
import { logLeaf } from '../plugins/sealed/wire/log-leaf.ts'
import { isContinued, isInLog, openHead } from '../plugins/sealed/wire/log.ts'
import { nodeOf } from '../plugins/sealed/wire/tree.ts'
import { commandRunner } from './fakes/command-runner.ts'
import { asking, sealedStage } from './fakes/sealing.ts'
import { served } from './fakes/served.ts'
import { until } from './until.ts'

const leaves = (count: number) =>
  Array.from({ length: count }, (_, at) => new Uint8Array(createHash('sha256').update(`leaf ${at}`).digest()))

/** The tree of RFC 9162 as its text defines it, from all leaves each time. */
const plainRoot = (all: readonly Uint8Array[]): Uint8Array => {
  if (all.length === 1) return all[0]!
  let middle = 1
  while (middle * 2 < all.length) middle *= 2
  return nodeOf(plainRoot(all.slice(0, middle)), plainRoot(all.slice(middle)))
}

const treeOver = (all: readonly Uint8Array[]): LogTree =>
  logTree(async (level, index) => plainRoot(all.slice(index * 2 ** level, (index + 1) * 2 ** level)))

t.test('roots are those that Certificate Transparency publishes for its eight leaves', async (t) => {
  const inputs = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f']
  const hashed = inputs.map(
    (hex) =>
      new Uint8Array(
        createHash('sha256')
          .update(Buffer.concat([Buffer.of(0), Buffer.from(hex, 'hex')]))
          .digest(),
      ),
  )
  const tree = treeOver(hashed)
  const root = async (size: number) => toHex(await tree.root(size))
  t.equal(await root(1), '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d')
  t.equal(await root(8), '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328')
})

t.test('every place and every beginning of a log is shown, and nothing else', async (t) => {
  const receipts = leaves(33)
  const tree = treeOver(receipts.map(logLeaf))
  const states = await Promise.all(
    receipts.map(async (_, at) => ({ size: at + 1, root: toHex(await tree.root(at + 1)) })),
  )
  let places = 0
  let beginnings = 0
  for (const state of states) {
    for (let index = 0; index < state.size; index++) {
      const place = { index, size: state.size, path: (await tree.place(index, state.size)).map(toHex) }
      if (!isInLog(receipts[index]!, place, state)) t.fail(`${index} of ${state.size}`)
      if (isInLog(receipts[index]!, { ...place, size: place.size - 1 }, state)) t.fail(`another size at ${index}`)
      if (isInLog(receipts[(index + 1) % 33]!, place, state)) t.fail(`another leaf at ${index} of ${state.size}`)
      places++
    }
    const shrunk = { ...state, size: state.size - 1 }
    if (isContinued(state, shrunk, [])) t.fail(`${state.size} shrinks by one`)
    for (const earlier of states.slice(0, state.size)) {
      const path = (await tree.continued(earlier.size, state.size)).map(toHex)
      if (!isContinued(earlier, state, path)) t.fail(`${earlier.size} to ${state.size}`)
      const other = { ...earlier, root: states[(earlier.size + 4) % 33]!.root }
      if (isContinued(other, state, path)) t.fail(`a fork at ${earlier.size} of ${state.size}`)
      if (isContinued(earlier, state, [...path, '00'.repeat(32)])) t.fail(`a longer path ${earlier.size}`)
      for (const at of path.keys()) {
        const changed = path.map((node, of) =>
          of === at ? node.replace(/^../, (match) => (match === '00' ? '01' : '00')) : node,
        )
        if (isContinued(earlier, state, changed)) t.fail(`a changed path ${earlier.size} to ${state.size}`)
      }
      if (path.length > 0 && isContinued(earlier, state, path.slice(1))) t.fail(`a shorter path ${earlier.size}`)
      beginnings++
    }
  }
  t.same([places, beginnings], [561, 561])
  const [small, large] = [states[2]!, states[6]!]
  t.notOk(isContinued(large, small, []), 'a log never shrinks')
  t.notOk(isContinued(small, { ...large, root: 'ff' }, (await tree.continued(3, 7)).map(toHex)), 'no root')
  t.notOk(isContinued(small, large, [7] as never), 'no path')
})

t.test('tiles keep the tree, replace what a killed process left, and take one writer at a time', async (t) => {
  const rows = store.create({}, {}, 'rows')
  const all = leaves(70_000)
  const tiles = tilesIn(rows)
  const tree = logTree(tiles.whole)
  for (let size = 0; size < 600; size += 50) {
    await tiles.append(size, leaves(7))
    await tiles.append(size, all.slice(size, size + 50))
  }
  t.equal(toHex(await tree.root(600)), toHex(plainRoot(all.slice(0, 600))))
  t.equal(toHex(await tree.root(257)), toHex(plainRoot(all.slice(0, 257))), 'an earlier state too')
  await tiles.append(600, all.slice(600))
  t.equal(toHex(await tree.root(70_000)), toHex(plainRoot(all)), 'tiles over tiles')

  const slow = tilesIn({
    ...rows,
    async get(kind, id) {
      const seen = await rows.get(kind, id)
      await tiles.append(70_000, leaves(3))
      return seen
    },
  })
  await t.rejects(slow.append(70_000, leaves(2)), { name: 'Unavailable' }, 'another process wrote meanwhile')
  await t.rejects(tiles.append(80_000, leaves(2)), { name: 'Unavailable' }, 'a gap')
})

t.test('an enclave signs one log that only grows', async (t) => {
  const signer = receiptSigner()
  const clock = { now: () => 5 } as never
  const sign = headSigning(() => ({ epoch: 3, sign: signer.signHead }), clock)
  const all = leaves(9).map(logLeaf)
  const tree = treeOver(all)
  const log = 'ab'.repeat(16)
  const wanted = async (from: number, size: number, of: LogTree = tree) => ({
    ...{ log, size, from, root: toHex(await of.root(size)) },
    path: (await of.continued(from, size)).map(toHex),
  })
  const first = sign(await wanted(0, 4))
  if ('behind' in first) return t.fail('the first head')
  t.strictSame(openHead(first, signer.keys), {
    ...{ v: 1, log, size: 4, root: toHex(await tree.root(4)), after: null, epoch: 3, at: 5 },
  })
  t.strictSame(sign(await wanted(0, 7)), { behind: 4 }, 'the path has to begin at its last head')
  const fork = treeOver([...all.slice(0, 3), ...leaves(6)])
  const refuses = (head: Parameters<typeof sign>[0], what: string) =>
    t.throws(() => sign(head), { name: 'BadRequest' }, what)
  refuses(await wanted(4, 7, fork), 'a fork')
  refuses({ ...(await wanted(0, 3)), from: 4 }, 'a shorter log')
  refuses({ ...(await wanted(4, 7)), log: 'cd'.repeat(16) }, 'another log')
  refuses({ ...(await wanted(4, 7)), root: 'zz' }, 'no root')
  t.match(JSON.parse((sign(await wanted(4, 7)) as { text: string }).text), { size: 7, after: 4 })
  t.match(
    JSON.parse((sign(await wanted(7, 7)) as { text: string }).text),
    { size: 7, after: 7 },
    'the same, signed anew',
  )

  const other = receiptSigner()
  t.equal(openHead(first, other.keys), null, 'of other keys')
  t.equal(openHead({ ...first, ed25519: '' }, signer.keys), null, 'ML-DSA alone')
  t.equal(openHead({ ...first, ml_dsa_65: '' }, signer.keys), null, 'Ed25519 alone')
  t.equal(openHead({ ...first, text: first.text.replace('"size":4', '"size":5') }, signer.keys), null, 'changed')
})

t.test('a receipt stands in the log, for its own organisation', async (t) => {
  const stage = await sealedStage(t)
  t.equal(await stage.client.receipts.head(), null, 'before the first receipt')
  const kept: CheckedReceipt[] = []
  const receipt = (one: CheckedReceipt) => void kept.push(one)
  await stage.client.chat.completions.create(asking('herons'), { receipt })
  const stands = async (at: number) => (await stage.client.receipts.proof(kept[at]!.receipt).catch(() => null)) !== null
  t.ok(await until(() => stands(0), 20_000))
  const first = (await stage.client.receipts.head())!
  t.match(first.facts, { size: 1, after: null })
  for await (const _ of await stage.client.chat.completions.create({ ...asking('two'), stream: true }, { receipt }));
  await stage.client.chat.completions.create(asking('without'))
  t.ok(await until(() => stands(1), 20_000), 'of a stream')
  const second = (await stage.client.receipts.head(first.facts))!
  t.match(second.facts, { size: 2, after: 1, log: first.facts.log }, 'a call without a receipt has no entry')
  const proof = (await stage.client.receipts.proof(kept[0]!.receipt))!
  t.equal(proof.place.index, 0)

  const fails = (work: Promise<unknown>) =>
    work.then(
      () => 'taken',
      (error: { fault: string }) => error.fault,
    )
  const forked = { ...first.facts, root: toHex(randomBytes(32)) }
  t.equal(await fails(stage.client.receipts.head(forked)), 'forked')
  const larger = { ...first.facts, size: 3 }
  t.equal(await fails(stage.client.receipts.head(larger)), 'forked', 'a log that was rolled back')
  const lost = { ...kept[0]!.receipt, text: `${kept[0]!.receipt.text} ` }
  t.equal(await fails(stage.client.receipts.proof(lost)), 'not_logged', 'a receipt that the log never got')
  const foreign = await stage.gateway.keys.create({ organization: 'other' })
  const them = connect({ baseUrl: stage.base, apiKey: foreign.credential, policy: { allowInsecureDev: true } })
  t.equal(await fails(them.receipts.proof(kept[0]!.receipt)), 'not_logged', 'not to another organisation')
  t.match(await them.receipts.head(), { facts: { size: 2 } }, 'the head is for all')

  const through = (change: (url: string, answer: any) => unknown) =>
    connect({
      ...{ baseUrl: stage.base, apiKey: stage.apiKey, policy: { allowInsecureDev: true } },
      fetch: async (url, init) => {
        const answer = await globalThis.fetch(url, init)
        return new Response(JSON.stringify(change(String(url), await answer.json())), { status: answer.status })
      },
    })
  const proofs = (change: (answer: any) => unknown) =>
    through((url, answer) =>
      /receipts\/[0-9a-f]{64}$/.test(url) ? { data: { ...answer.data, ...(change(answer.data) as object) } } : answer,
    )
  const asksFor = (client: ReturnType<typeof connect>) => fails(client.receipts.proof(kept[0]!.receipt))
  t.equal(await asksFor(proofs(() => ({}))), 'taken')
  const emptied = through((url, answer) =>
    url.includes('receipts?from') ? { data: { head: null, path: [] } } : answer,
  )
  t.equal(await fails(emptied.receipts.head(first.facts)), 'forked', 'a log that was emptied')
  t.equal(await asksFor(proofs(({ place }) => ({ place: { ...place, index: 1 } }))), 'not_logged', 'another place')
  t.equal(await asksFor(proofs(({ place }) => ({ place: { ...place, path: [] } }))), 'not_logged', 'no path')
  t.equal(await asksFor(proofs(() => ({ head: first.head }))), 'not_logged', 'another head')
  const own = receiptSigner()
  t.equal(
    await asksFor(proofs(({ head }) => ({ head: { ...head, ...own.signHead(head.text) } }))),
    'not_logged',
    'keys of a stranger',
  )
  t.throws(() => checkProof(kept[0]!.receipt, proof, [own.keys]), { message: /log of receipts/ })

  const folder = t.testdir({
    'receipt.json': JSON.stringify(kept[0]!.receipt),
    'other.json': JSON.stringify(kept[1]!.receipt),
  })
  const at = (name: string) => join(folder, name)
  const command = commandRunner(t)
  const ran = async (...args: readonly string[]) => {
    const env = { SEALGATE_URL: stage.base, SEALGATE_KEY: stage.apiKey }
    const { code, stdout, stderr } = await command([...args, '--allow-insecure-dev'], env)
    return { code, out: stdout + stderr }
  }
  t.match(await ran('verify', stage.base, '--save', at('evidence.json')), { code: 0 })
  t.match(await ran('receipt', 'prove', at('receipt.json'), '--save', at('proof.json')), {
    code: 0,
    out: /entry 1 of 2/,
  })
  const offline = ['--evidence', at('evidence.json'), '--log', at('proof.json')]
  t.match(await ran('receipt', 'verify', at('receipt.json'), ...offline), { code: 0, out: /entry 1 of 2 in the log/ })
  t.match(await ran('receipt', 'verify', at('other.json'), ...offline), { code: 1, out: /does not hold this receipt/ })
  await writeFile(at('unknown.json'), JSON.stringify({ ...kept[0]!.receipt, text: '{}' }))
  t.match(await ran('receipt', 'prove', at('unknown.json')), { code: 1, out: /does not hold this receipt/ })
  await writeFile(at('broken.json'), '{')
  t.match(await ran('receipt', 'verify', at('broken.json'), ...offline), { code: 2, out: /no JSON object/ })
  t.match(await ran('receipt', 'verify', at('absent.json'), ...offline), { code: 2 })

  stage.restart()
  await stage.client.verify()
  t.match(await stage.client.receipts.head(second.facts), { facts: { size: 2, after: null } }, 'signed anew at once')
  t.match(await stage.client.receipts.proof(kept[0]!.receipt), { place: { index: 0 } }, 'under the new head')
  await stage.client.chat.completions.create(asking('after'), { receipt })
  t.ok(await until(() => stands(2), 20_000))
  t.match(await stage.client.receipts.head(second.facts), { facts: { size: 3, after: 2 } }, 'another enclave goes on')
})

t.test('the log of a started gateway is signed by its confidential process', async (t) => {
  const key = `sk_live_${'5'.repeat(44)}`
  const server = await served({ SEALGATE_DATA: join(t.testdir(), 'data'), SEALGATE_KEY: key })
  t.teardown(() => server.child.kill('SIGKILL'))
  const client = connect({ baseUrl: server.base, apiKey: key, policy: { allowInsecureDev: true } })
  const kept: CheckedReceipt[] = []
  await client.tools.call('getTime', { timezone: 'Europe/Rome' }, { receipt: (one) => void kept.push(one) })
  // A key has a bound of requests in a second.
  const stands = async () => {
    await sleep(200)
    return (await client.receipts.proof(kept[0]!.receipt).catch(() => null)) !== null
  }
  t.ok(await until(stands, 20_000))
  t.match(await client.receipts.head(), { facts: { size: 1, after: null } })
  await server.stop('SIGINT')
})
