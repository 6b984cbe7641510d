import t from 'tap'
import cache from '../../../../adapters/memory/cache.ts'
import { Catalog } from '../../../../core/inference/models/catalog.ts'
import { catalog } from '../../../../plugins/shared/models/catalog.ts'
import { isListed, catalogEntryOf } from '../../../../plugins/shared/models/listed-model.ts'
import { use } from '../../../../core/plugin.ts'
import { Clock, Log } from '../../../../core/ports/platform.ts'
import { Upstream, type Model } from '../../../../core/ports/upstream.ts'
import { Settings, type SettingsInput } from '../../../../core/settings.ts'
import { checkedSettings } from '../../../fakes/checked-settings.ts'
import { fakeClock, type FakeClock } from '../../../fakes/clock.ts'
import { given, made } from '../../../fitted.ts'

const never = new AbortController().signal

interface Provider extends Upstream {
  asked: number
  list: readonly Model[] | Error | 'silence'
}

const provider = (
  name: string,
  list: Provider['list'],
  able: Partial<Upstream> = { chat: async () => Promise.reject(new Error()) },
) => {
  const provider: Provider = {
    name,
    asked: 0,
    list,
    async models() {
      provider.asked++
      if (provider.list === 'silence') return new Promise(() => {})
      if (provider.list instanceof Error) throw provider.list
      return provider.list
    },
    ...able,
  }
  return provider
}

const chatModels = (...ids: readonly string[]): Model[] => ids.map((id) => ({ id, type: 'CHAT' }))

const fresh = (
  upstreams: readonly Upstream[],
  settings: SettingsInput = {},
  clock: FakeClock = fakeClock(),
  inside = false,
) => {
  const events: string[] = []
  const log: Log = { info() {}, warn() {}, error: (event) => void events.push(event) }
  const made1 = made(
    Catalog,
    use(catalog, { inside }),
    use(cache),
    ...upstreams.map((upstream) => given(Upstream, upstream.name, () => upstream)),
    given(Settings, 'settings', () => checkedSettings(settings)),
    given(Clock, 'clock', () => clock),
    given(Log, 'log', () => log),
  )
  return { ...made1, events }
}

t.test('from the configuration', async (t) => {
  const a = provider('a', chatModels('x'))
  const b = provider('b', [], {
    decide: async () => Promise.reject(new Error()),
    embed: async () => Promise.reject(new Error()),
  })

  t.test('only what is configured, in its order, and nobody is asked', async (t) => {
    const catalog = fresh([a, b], {
      models: {
        small: {
          upstreams: [
            { provider: 'b', priority: 2 },
            { provider: 'a', model: 'its-own', weight: 3 },
          ],
        },
        vectors: { type: 'EMBEDDING', upstreams: [{ provider: 'b' }, { provider: 'a' }] },
        marked: { decide: true, upstreams: [{ provider: 'a' }] },
      },
    })
    const small = await catalog.find('small', never)
    t.same(
      small?.candidates.map(({ id, weight }) => [id, weight]),
      [
        ['a/its-own', 3],
        ['b/small', 1],
      ],
    )
    t.same([...small!.does].sort(), ['chat', 'decide'], 'the backend that decides makes it decide')
    t.same([...(await catalog.find('vectors', never))!.does], ['embed'])
    t.same([...(await catalog.find('marked', never))!.does].sort(), ['chat', 'decide'])
    t.equal(await catalog.find('x', never), null)
    t.equal(await catalog.find('__proto__', never), null)
    t.same(
      (await catalog.list(never)).map(({ name }) => name),
      ['small', 'vectors', 'marked'],
    )
    t.equal(a.asked, 0)
  })

  t.test('an unknown provider stops the boot', async (t) => {
    const models = { small: { upstreams: [{ provider: 'a' }, { provider: 'nobody' }] } }
    t.throws(() => fresh([a], { models }), {
      message: 'models.small.upstreams.1.provider is not a provider',
      name: 'RefusedConfiguration',
    })
  })

  t.test('a promise to go on that no provider can keep stops the boot', async (t) => {
    const chat = async () => Promise.reject(new Error())
    const [able, unable, mute] = [
      provider('a', []),
      provider('b', [], { chat, continues: false }),
      provider('c', [], {}),
    ]
    const listed = (...names: readonly string[]) => ({
      models: { small: { continues: true, upstreams: names.map((provider) => ({ provider })) } },
    })
    t.throws(
      () => fresh([unable, mute], listed('b', 'c')),
      /^models\.small\.continues: none of its providers can go on/,
    )
    t.ok(fresh([able, unable], listed('a', 'b')), 'one is enough')
  })

  t.test('the id of the catalogs finds a model where no name is like it', async (t) => {
    const upstreams = [{ provider: 'a' }]
    const models = { small: { id: 7, upstreams }, '7': { id: 8, upstreams }, named: { id: 8, upstreams } }
    const catalog = fresh([provider('a', [])], { models })
    t.equal((await catalog.find('7', never))!.name, '7')
    t.equal((await catalog.find('8', never))!.name, '7', 'the first one of two')
    t.equal(await catalog.find('9', never), null)
    t.ok(catalog.isWhole())
  })

  t.test('the two sides of the wall', async (t) => {
    const models: SettingsInput['models'] = {
      sealed: { standard: false, confidential: true, upstreams: [{ provider: 'inner' }] },
      both: { confidential: true, upstreams: [{ provider: 'inner' }, { provider: 'a' }] },
      open: { upstreams: [{ provider: 'a' }] },
    }
    const outside = fresh([a], { models })
    t.same((await outside.find('sealed', never))?.candidates, [])
    t.same(
      (await outside.find('both', never))?.candidates.map(({ provider }) => provider),
      ['a'],
    )
    const inside = fresh([provider('inner', [])], { models }, fakeClock(), true)
    t.same(
      (await inside.list(never)).map(({ name, candidates }) => [name, candidates.length]),
      [
        ['sealed', 1],
        ['both', 1],
      ],
    )
    t.throws(() => fresh([provider('other', [])], { models }, fakeClock(), true), /models\.sealed\.upstreams/)
    t.throws(() => fresh([provider('inner', [])], { models }), /models\.open\.upstreams\.0/)
  })
})

t.test('from what the providers list', async (t) => {
  t.test('a union; one that is down hides no other', async (t) => {
    const [a, b, c] = [
      provider('a', chatModels('x', 'y')),
      provider('b', chatModels('y', 'org/z')),
      provider('c', new Error('down')),
    ]
    const catalog = fresh([a, b, c])
    t.same(
      (await catalog.list(never)).map(({ name }) => name),
      ['org/z', 'x', 'y'],
    )
    t.same(
      (await catalog.find('y', never))?.candidates.map(({ id }) => id),
      ['a/y', 'b/y'],
    )
    t.same(
      (await catalog.find('b/y', never))?.candidates.map(({ id }) => id),
      ['b/y'],
    )
    t.same(
      (await catalog.find('org/z', never))?.candidates.map(({ id }) => id),
      ['b/org/z'],
    )
    t.same((await catalog.find('b/org/z', never))?.name, 'b/org/z')
    t.equal(await catalog.find('a/org/z', never), null)
    t.equal(await catalog.find('c/x', never), null)
    t.same(catalog.events, ['models.unlisted'])
  })

  t.test('a time in another unit than seconds counts as unknown', async (t) => {
    const times = [1_796_003_344, 253_402_300_799, 1_796_003_344_000, 1_796_003_344_000_000]
    const models = times.map((created, at): Model => ({ id: `m${at}`, type: 'CHAT', created }))
    const begun = Math.floor(fakeClock().now() / 1000)
    t.same(
      (await fresh([provider('a', models)]).list(never)).map(({ settings }) => settings.created),
      [1_796_003_344, 253_402_300_799, begun, begun],
    )
    const configured = (created: number) =>
      checkedSettings({ models: { m: { created, upstreams: [{ provider: 'a' }] } } })
    t.ok(configured(253_402_300_799))
    t.throws(() => configured(1_796_003_344_000), 'and the settings take none')
  })

  t.test('until all have told their models the list is not whole', async (t) => {
    const clock = fakeClock()
    const [a, b] = [provider('a', chatModels('x')), provider('b', new Error())]
    const catalog = fresh([a, b], {}, clock)
    t.notOk(catalog.isWhole(), 'nobody was asked')
    t.equal(await catalog.find('y', never), null)
    t.notOk(catalog.isWhole())
    b.list = chatModels('y')
    await clock.pass(5_001)
    t.equal((await catalog.find('y', never))!.name, 'y')
    t.ok(catalog.isWhole())
    const id = String(catalogEntryOf((await catalog.find('y', never))!, 'standard').id)
    t.equal((await catalog.find(id, never))!.name, 'y', 'by its id')
  })

  t.test('asks once a minute, all callers together', async (t) => {
    const clock = fakeClock()
    const a = provider('a', chatModels('x'))
    const catalog = fresh([a], {}, clock)
    await Promise.all([catalog.find('x', never), catalog.list(never), catalog.find('y', never)])
    await catalog.find('nothing', never)
    t.equal(a.asked, 1)
    await clock.pass(60_000)
    a.list = chatModels('x', 'new')
    t.ok(await catalog.find('x', never), 'what was there is given at once')
    t.ok(await catalog.find('new', never))
    t.equal(a.asked, 2)
  })

  t.test('one that goes down or silent keeps its last list', async (t) => {
    const clock = fakeClock()
    const [a, b] = [provider('a', chatModels('x')), provider('b', chatModels('y'))]
    const catalog = fresh([a, b], {}, clock)
    await catalog.list(never)
    a.list = new Error('down')
    b.list = 'silence'
    await clock.pass(120_000)
    const late = catalog.list(never)
    await clock.pass(5_000)
    t.same(
      (await late).map(({ name }) => name),
      ['x', 'y'],
    )
  })

  t.test('a caller that leaves does not spoil it for the others', async (t) => {
    const clock = fakeClock()
    const a = provider('a', 'silence')
    const catalog = fresh([a], {}, clock)
    const controller = new AbortController()
    const reason = new Error('left')
    const [first, second] = [catalog.find('x', controller.signal), catalog.find('x', never)]
    controller.abort(reason)
    await t.rejects(first, reason)
    await clock.pass(5_000)
    t.equal(await second, null)
  })
})

t.test('as the catalog shows it', async (t) => {
  const catalog = fresh([provider('a', [])], {
    models: {
      small: {
        confidential: true,
        price_config: {
          standard: { eu: { prompt_price_per_k: 0.1 } },
          confidential: { eu: { prompt_price_per_k: 0.2 } },
        },
        regions: ['eu'],
        upstreams: [{ provider: 'a' }],
      },
      vectors: { type: 'EMBEDDING', upstreams: [{ provider: 'a' }] },
      named: { id: 7, name: 'Named', owned_by: 'us', created: 5, upstreams: [{ provider: 'a' }] },
    },
  })
  const [small, vectors, named] = await catalog.list(never)
  t.same(catalogEntryOf(small!, 'standard'), {
    id: 142779992488902,
    object: 'model',
    created: Math.floor(fakeClock().now() / 1000),
    owned_by: 'a',
    model: 'small',
    name: 'small',
    description: '',
    type: 'CHAT',
    input_modalities: ['text'],
    price_config: { standard: { eu: { prompt_price_per_k: 0.1 } }, confidential: {} },
    regions: ['eu'],
    requires_auth: 1,
    usage_mode: 'both',
    visible_in_dashboard: 1,
    likes_count: 0,
    dislikes_count: 0,
    total_reviews: 0,
    rating_percent: 0,
  })
  t.same(catalogEntryOf(small!, 'confidential').price_config, {
    standard: {},
    confidential: { eu: { prompt_price_per_k: 0.2 } },
  })
  t.match(catalogEntryOf(named!, 'standard'), {
    id: 7,
    name: 'Named',
    owned_by: 'us',
    created: 5,
    price_config: { standard: {}, confidential: {} },
    usage_mode: 'standard',
  })
  t.same(
    [isListed(small!, 'confidential'), isListed(named!, 'confidential'), isListed(vectors!, 'standard')],
    [true, false, false],
  )
})
