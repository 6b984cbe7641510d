import t from 'tap'
import * as v from 'valibot'
import { memory } from '../../adapters/memory/index.ts'
import { createGateway } from '../../core/gateway.ts'
import { json } from '../../core/http/reply.ts'
import { route } from '../../core/http/route.ts'
import { plugin, use } from '../../core/plugin.ts'
import { section } from '../../core/ports/section.ts'
import { Surface } from '../../core/ports/surface.ts'
import { Settings, type SettingsInput } from '../../plugins/surfaces/shared/own-surface.ts'

const lamp = section(
  'lamp',
  v.optional(v.strictObject({ lumen: v.optional(v.number(), 800), model: v.optional(v.string()) }), {}),
  {
    fixed: ['lamp.lumen'],
    models: ({ model }) => [['lamp.model', model]],
  },
)

const lit = route({
  method: 'GET',
  path: '/lamp',
  summary: 'How bright the lamp is.',
  access: 'anyone',
  needs: { settings: Settings },
  handle: (_, { settings }) => json(lamp.of(settings)),
})

const lampSurface = plugin({
  port: Surface,
  name: 'lamp',
  sections: [lamp],
  create: (): Surface => ({
    name: 'lamp',
    routes: [lit],
    chapter: async () => ({ name: 'Lamp', about: 'A lamp.', words: {} }) as never,
  }),
})

const gatewayWith = (settings: object, surfaces = [...memory().surfaces, use(lampSurface)]) =>
  createGateway({ ...memory(), surfaces }, settings as SettingsInput)

t.test('a plugin brings its settings, under its own name and by its own schema', async (t) => {
  const gateway = gatewayWith({ lamp: { lumen: 5 } })
  t.teardown(() => gateway.close())
  const answer = await gateway.fetch(new Request('http://here/lamp'))
  t.same(await answer.json(), { lumen: 5 })
  await t.rejects(gateway.renew({ settings: { lamp: { lumen: 6 } } as SettingsInput }), /lamp\.lumen can't be changed/)
})

t.test('a plugin without settings in the configuration has its defaults', async (t) => {
  const gateway = gatewayWith({})
  t.teardown(() => gateway.close())
  t.same(await (await gateway.fetch(new Request('http://here/lamp'))).json(), { lumen: 800 })
})

t.test('wrong settings of a plugin end the start, with their path', async (t) => {
  t.throws(() => gatewayWith({ lamp: { lumen: 'much' } }), /lamp\.lumen expected a number/)
  t.throws(() => gatewayWith({ lamp: { lumen: 5 } }, memory().surfaces as never), /lamp is not a known setting/)
  const models = { chat: { upstreams: [{ provider: 'rehearsal', model: 'rehearsal' }] } }
  t.throws(() => gatewayWith({ models, lamp: { model: 'chet' } }), /lamp\.model is not one of the models/)
  const gateway = gatewayWith({ models, lamp: { model: 'chat' } })
  await gateway.close()
})

t.test('an environment takes the settings of each shipped plugin, also where it leaves that plugin out', async (t) => {
  const { parts, surfaces, sections, meter } = memory()
  const brought = [...parts, ...surfaces, meter].flatMap((fitting) => fitting.sections ?? [])
  t.same(
    brought.filter((own) => !sections?.includes(own)).map(({ name }) => name),
    [],
  )
  t.same([...new Set(brought.map(({ name }) => name))].sort(), sections?.map(({ name }) => name).sort())
  const gateway = createGateway({ ...memory(), surfaces: [] }, { mcp: { url: 'https://ai.example.org/mcp' } })
  await gateway.close()
})
