import * as v from 'valibot'
import { SettingsShape } from '../core/settings.ts'
import './fakes/unwatched.ts'
import type { HorizontalPodAutoscaler } from 'kubernetes-types/autoscaling/v2.d.ts'
import type { StatefulSet } from 'kubernetes-types/apps/v1.d.ts'
import type { Probe, Service } from 'kubernetes-types/core/v1.d.ts'
import type { LabelSelector } from 'kubernetes-types/meta/v1.d.ts'
import type { NetworkPolicy } from 'kubernetes-types/networking/v1.d.ts'
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.d.ts'
import { execFile } from 'node:child_process'
import { access, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { memory } from '../adapters/memory/index.ts'
import type { Config } from '../adapters/production/config/config.ts'
import { checkedConfig, plainModels, settingsOf } from '../adapters/production/config/config.ts'
import { production } from '../adapters/production/index.ts'
import * as errors from '../core/errors.ts'
import { createGateway } from '../core/gateway.ts'
import { alone } from '../core/own-parts.ts'
import { Metrics, metrics } from '../plugins/observers/prometheus/metrics.ts'
import { usageMetrics } from '../plugins/observers/prometheus/usage-metrics.ts'
import { use } from '../core/plugin.ts'
import { type Observer, outcomes } from '../core/ports/observer.ts'
import { running } from './environments.ts'
import { fakeClock } from './fakes/clock.ts'
import { enclosed, program } from './fakes/served.ts'
import { made } from './fitted.ts'
import { folderOf } from './helpers.ts'
import { complaints } from './operations/complaints.ts'
import {
  type ComposeService,
  type Manifest,
  type Side,
  compose,
  composed,
  config,
  container,
  dockerfile,
  env,
  folder,
  labels,
  manifest,
  manifestFiles,
  manifests,
  mountOf,
  pod,
  portOf,
  raw,
  read,
  sides,
  wanted,
} from './operations/files.ts'
import { everyRoute as routes } from './every-route.ts'
import { type Query, readQuery } from './operations/promql.ts'

const run = promisify(execFile)

const same = (t: Test, one: Iterable<string>, other: Iterable<string>, what: string) =>
  t.same([...one].sort(), [...other].sort(), what)
const selects = (selector: LabelSelector | undefined, side: Side) =>
  Object.entries(selector?.matchLabels ?? {}).every(([name, value]) => labels(side)[name] === value)

t.test('the manifests are what Kubernetes knows', async (t) => {
  t.same(complaints(manifests), [])
  const first = JSON.stringify(manifest('Deployment', 'gateway'))
  const found = (from: string, to: string) => complaints([JSON.parse(first.replace(from, to)) as Manifest]).join()
  t.match(found('readinessProbe', 'readinesProbe'), /readinesProbe/, 'a field that is none is found')
  t.match(found('"runAsUser":65532', '"runAsUser":"65532"'), /to type 'number'/, 'and one of another type')

  const { resources, configMapGenerator } = parse(await read('kustomization.yaml')) as {
    readonly resources: readonly string[]
    readonly configMapGenerator: readonly { readonly name: string; readonly files: readonly string[] }[]
  }
  same(t, resources, manifestFiles, 'every one is applied')
  for (const side of sides) {
    const path = container(side).env!.find(({ name }) => name === 'SEALGATE_CONFIG')!.value!
    const file = configMapGenerator.find(({ name }) => name === side)!.files[0]!
    t.equal(path, `${mountOf(side, 'config')}/${file}`, `${side} reads the file of its ConfigMap`)
    t.equal(pod(side).volumes!.find(({ name }) => name === 'config')!.configMap!.name, side)
    t.equal(composed(side).environment['SEALGATE_CONFIG'], path, 'the same in Compose')
    const given = composed(side).configs[0]!
    t.same([given.target, compose.configs[given.source]!.file], [path, `./${file}`])
    t.ok(selects(manifest<PodDisruptionBudget>('PodDisruptionBudget', side).spec!.selector, side), 'its budget')
  }
  const { scaleTargetRef, minReplicas } = manifest<HorizontalPodAutoscaler>('HorizontalPodAutoscaler', 'gateway').spec!
  t.same([scaleTargetRef.kind, scaleTargetRef.name], ['Deployment', 'gateway'])
  t.ok(minReplicas! > 1 && manifest<StatefulSet>('StatefulSet', 'enclave').spec!.replicas! > 1)
})

t.test('the configurations stand up to the boot, and fit each other', async (t) => {
  const certificate = join(t.testdir({ 'a.pem': '' }), 'a.pem')
  const tls = { ca: certificate, cert: certificate, key: certificate }
  const booted = async ({ enclave, ...rest }: Config, data: string) => {
    const adapters = await production({ ...rest, enclave: { ...enclave, tls, connect: ['elsewhere:1'] } }, data)
    // The stores are not there; what has to be there for them is said by their settings alone.
    const { metadataStore, blobStore, cache, rateLimiter } = memory()
    const settings = settingsOf({ ...rest, enclave }) as Parameters<typeof createGateway>[1]
    await createGateway({ ...adapters, metadataStore, blobStore, cache, rateLimiter }, settings).close()
  }
  const { gateway, enclave } = config
  await t.resolves(booted(gateway, t.testdirName))
  await t.rejects(
    booted({ ...gateway, providers: {} }, t.testdirName),
    /is not a provider/,
    'a model without a provider',
  )
  const inside = { ...enclave, providers: enclave.enclave.providers! }
  const clear = Object.entries(plainModels(enclave)).map(
    ([name, model]) => [name, { ...model, standard: true }] as const,
  )
  await t.resolves(booted({ ...inside, models: Object.fromEntries(clear) }, t.testdirName))
  t.ok(Object.values(plainModels(enclave)).every((model) => model.confidential && !model.standard))
  t.ok(enclave.models[enclave.enclave.retrieval.model!], 'what indexing embeds with is there')
  for (const side of sides) {
    for (const name of wanted(side))
      t.throws(() => checkedConfig(raw[side], { ...env[side], [name]: '' }), / is not set/)
    t.equal(config[side].env, 'production')
  }
  same(t, Object.keys(gateway.tools!), Object.keys(enclave.tools!), 'what is listed outside is what runs inside')
  t.same([gateway.storage.metadata!.use, gateway.storage.blobs!.use], ['postgres', 's3'])
  t.ok(gateway.limits.redis, 'limits are counted together')
})

t.test('each side is given the secrets that it names, and no others', async (t) => {
  for (const side of sides) {
    const needed = new Set([...wanted(side), ...(side === 'gateway' ? ['SEALGATE_KEY'] : [])])
    same(t, Object.keys(env[side]), needed, `${side}.env.example`)
    t.same(composed(side).env_file, [`${side}.env`])
    const secrets = container(side).env!.flatMap(({ name, valueFrom }) => (valueFrom ? [name] : []))
    same(t, secrets, needed, `${side} in Kubernetes`)
    for (const { name, valueFrom } of container(side).env!)
      if (valueFrom) t.same(valueFrom.secretKeyRef, { name: side, key: name })
    for (const [path, value] of leaves(raw[side]))
      if (/(key|secret|password|url)\w*$/i.test(path) && !/^enclave\.tls|baseUrl$/i.test(path))
        t.match(value, /^\$\w+$/, `${path} is not written down`)

    t.equal(pod(side).volumes!.find(({ name }) => name === 'tls')!.secret!.secretName, `${side}-tls`)
    const { ca, cert, key } = config[side].enclave.tls!
    for (const [file, path] of Object.entries({ 'ca.crt': ca, 'tls.crt': cert, 'tls.key': key })) {
      t.equal(path, `${mountOf(side, 'tls')}/${file}`, 'where Kubernetes puts it')
      const { source } = composed(side).secrets.find(({ target }) => target === path)!
      t.equal(compose.secrets[source]!.file, `./certificates/${side}/${file}`, 'and Compose')
    }
  }
})

t.test('containers may do next to nothing', async (t) => {
  const main = await readFile('adapters/production/main.ts', 'utf8')
  for (const side of sides) {
    const { securityContext: own, resources, args, image } = container(side)
    const { securityContext, automountServiceAccountToken, enableServiceLinks, volumes } = pod(side)
    t.match(securityContext, { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } })
    t.same(own, { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } })
    t.same([automountServiceAccountToken, enableServiceLinks], [false, false])
    const { emptyDir } = volumes!.find(({ name }) => name === 'memory')!
    t.same([emptyDir!.medium, mountOf(side, 'memory')], ['Memory', '/tmp'], 'what decoders write stays in memory')
    t.ok(bytesOf(emptyDir!.sizeLimit!) * 2 <= bytesOf(resources!.limits!['memory']!), 'and within its bound')
    t.ok(main.includes(`async ${args![0]}(`), `sealgate ${args![0]}`)

    const service = composed(side)
    t.match(service, { read_only: true, user: '65532:65532', cap_drop: ['ALL'], image, command: args! })
    t.same(service.security_opt, ['no-new-privileges:true'])
    t.ok(service.tmpfs.every((at) => at.startsWith('/tmp:')))
  }
})

t.test('the journal of usage outlives a gateway that is killed, in Compose', (t) => {
  const { environment, tmpfs, volumes } = composed('gateway')
  const data = environment['SEALGATE_DATA']!
  const isAbove = (place: string) => `${data}/`.startsWith(`${place}/`)
  const named = volumes.map((volume) => volume.split(':') as [string, string])
  t.match(
    named.filter(([name, place]) => name in compose.volumes && isAbove(place)),
    { length: 1 },
    'a named volume has the folder',
  )
  t.notOk(
    tmpfs.some((place) => isAbove(place.split(':')[0]!)),
    'no memory of the container has it',
  )
  const owned = dockerfile.some(({ word, said }) => word === 'RUN' && said.includes(`-o 65532 -g 65532 -m 700 ${data}`))
  t.ok(owned, 'a new volume takes the owner from the image')
  t.end()
})

t.test('the confidential process starts with all that containers have in their environment', async (t) => {
  const at = await folderOf(t)
  const { tls, ...own } = raw.enclave.enclave as { readonly tls: object }
  const file = join(at, 'enclave.json')
  await writeFile(file, JSON.stringify({ ...raw.enclave, enclave: { ...own, listen: join(at, 'it.sock') } }))
  const texts = dockerfile
    .filter(({ word }) => word === 'ENV')
    .flatMap(({ said: text }) => text.match(/\w+(?==)/g) ?? [])
  const given = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 'given']))
  // The image that ours is made from, and whatever runs it, say these.
  const image = { ...given([...texts, 'NODE_VERSION', 'YARN_VERSION', 'HOSTNAME']), HOME: at }
  const api = 'SERVICE_HOST SERVICE_PORT SERVICE_PORT_HTTPS PORT PORT_443_TCP PORT_443_TCP_PROTO PORT_443_TCP_PORT'
  const kubernetes = [...api.split(' '), 'PORT_443_TCP_ADDR'].map((name) => `KUBERNETES_${name}`)
  const sides = {
    Compose: { ...image, ...env.enclave, ...given(Object.keys(composed('enclave').environment)) },
    Kubernetes: { ...image, ...given([...container('enclave').env!.map(({ name }) => name), ...kubernetes]) },
  }
  for (const [name, variables] of Object.entries(sides)) {
    t.ok('NODE_ENV' in variables && 'BRAVE_API_KEY' in variables)
    const child = await enclosed({ ...variables, SEALGATE_CONFIG: file })
    child.kill('SIGKILL')
    t.pass(name)
    // As Kubernetes tells each service of a namespace, unless enableServiceLinks is false.
    const linked = enclosed({ ...variables, SEALGATE_CONFIG: file, ENCLAVE_PORT_8443_TCP_ADDR: '10.0.0.7' })
    await t.rejects(linked, { message: /does not start with ENCLAVE_PORT_8443_TCP_ADDR set/ })
  }
})

t.test('the image', async (t) => {
  const stages = dockerfile.filter(({ word }) => word === 'FROM').map(({ said: text }) => text)
  t.equal(stages.at(-1), 'base AS sealgate', 'without a browser, unless one is asked for')
  const last = (word: string) => dockerfile.filter((node) => node.word === word).at(-1)!.said
  t.equal(last('USER'), '65532:65532')
  const installs = dockerfile
    .map(({ said: text }) => text)
    .filter((text) => /\bnpx|\bnpm (?!run |sbom |pkg )/.test(text))
  t.same(installs, ['npm ci --ignore-scripts', 'npm ci --omit=dev --ignore-scripts'], 'nothing but what the lock names')
  t.ok(
    dockerfile.some(({ word, said: text }) => word === 'RUN' && /\bnpm sbom .*> sbom\.cdx\.json$/.test(text)),
    'and it says what that is',
  )
  t.match(last('ENTRYPOINT'), `"/app/${program.slice(process.cwd().length + 1)}"`)
  t.equal(last('EXPOSE'), `${portOf('gateway')} ${portOf('enclave')}`)

  const ignored = (await read('Dockerfile.dockerignore')).trim().split('\n')
  t.equal(ignored[0], '*')
  const copied = dockerfile
    .filter(({ word, said: text }) => word === 'COPY' && !text.startsWith('--from'))
    .flatMap(({ said: text }) => text.split(' ').slice(0, -1))
  same(
    t,
    new Set(copied),
    ignored.slice(1).map((line) => line.replace('!', '')),
    'what is copied is what is sent',
  )
  for (const file of copied) await t.resolves(access(file), file)
  t.ok(copied.includes(`${folder}/ask-enclave.mjs`))

  const node = last('ARG').split('=')[1]!
  const images = [
    ...Object.values(compose.services).map(({ image }) => image),
    ...sides.map((side) => container(side).image!),
    ...stages
      .filter((stage) => !stage.startsWith('base '))
      .map((stage) => stage.split(' ')[0]!.replace('${NODE}', node)),
  ]
  for (const image of images) t.match(image, /^[a-z]+(\/[a-z]+)?:[\w.-]*\d[\w.-]*$/, `${image} is a name and a version`)

  const health = last('HEALTHCHECK')
  const [command, ...args] = JSON.parse(health.slice(health.indexOf('['))) as [string, ...string[]]
  t.match(args.join(), `:${portOf('gateway')}/health/live'`)
  const { base } = await running(t, memory())
  const check = (port: string) =>
    run(
      command,
      args.map((text) => text.replace(`${portOf('gateway')}`, port)),
    )
  await t.resolves(check(new URL(base).port), 'sees one that is well')
  await t.rejects(check('1'), 'and one that is gone')
})

t.test('who is asked, where, and for how long', async (t) => {
  const open = (path: string) =>
    routes.some((route) => route.method === 'GET' && route.path === path && route.access === 'unasked')
  for (const side of sides) {
    const [port] = container(side).ports!
    t.equal(port!.containerPort, portOf(side), `${side} listens where it is said`)
    const { selector, ports } = manifest<Service>('Service', side).spec!
    t.equal(ports![0]!.targetPort, port!.name)
    t.ok(selects({ matchLabels: selector! }, side))
    const { startupProbe, livenessProbe, readinessProbe } = container(side)
    for (const { httpGet, exec } of [startupProbe, livenessProbe, readinessProbe] as readonly Probe[]) {
      if (side === 'gateway') t.ok(open(httpGet!.path!) && httpGet!.port === port!.name, httpGet!.path!)
      else t.same(exec!.command, composed(side).healthcheck.test.slice(1))
    }
  }
  const { livenessProbe, readinessProbe, startupProbe } = container('gateway')
  const paths = [startupProbe, livenessProbe, readinessProbe].map((probe) => probe!.httpGet!.path)
  t.same(paths, ['/health/live', '/health/live', '/health/ready'], 'a store that is away is no reason to start again')
  t.match(composed('gateway').ports, [new RegExp(`:${portOf('gateway')}$`)])

  for (const side of ['gateway', 'enclave'] as const) {
    const { linger, drain } = config[side].server
    const longest = (linger + drain) / 1000 + 30
    t.ok(pod(side).terminationGracePeriodSeconds! >= longest, 'Kubernetes waits for the drain')
    const service = composed(side)
    t.ok(parseInt(service.stop_grace_period) * 60 >= longest, 'and so does Compose')
  }

  const { replicas, serviceName } = manifest<StatefulSet>('StatefulSet', 'enclave').spec!
  const names = Array.from({ length: replicas! }, (_, at) => `enclave-${at}.${serviceName}`)
  const lines = names.map((name) => `${name}:${portOf('enclave')}`)
  same(t, config.gateway.enclave.connect!, lines, 'every enclave is known by name')
  t.equal(manifest<Service>('Service', serviceName!).spec!.clusterIP, 'None', 'which its Service gives')
  const aliases = Object.values(compose.services).flatMap(({ networks }) =>
    'line' in networks ? (networks['line'].aliases ?? []) : [],
  )
  same(t, aliases, names, 'the same in Compose')
})

t.test('an enclave is reached by gateways alone, and reaches no store', async (t) => {
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy') as readonly NetworkPolicy[]
  const of = (side: Side) => policies.map(({ spec }) => spec!).filter(({ podSelector }) => selects(podSelector, side))
  const closed = of('enclave').find(({ podSelector }) => Object.keys(podSelector).length === 0)
  t.match(closed, { policyTypes: ['Ingress', 'Egress'] }, 'nothing is open by itself')
  const [door, ...others] = of('enclave').flatMap(({ ingress }) => ingress ?? [])
  t.same(others, [], 'by one door')
  t.same(door!.ports, [{ protocol: 'TCP', port: portOf('enclave') }], 'where it listens')
  t.same(
    door!.from!.map((from) => Object.keys(from)),
    [['podSelector']],
    'from this namespace',
  )
  t.ok(
    selects(door!.from![0]!.podSelector, 'gateway') && !selects(door!.from![0]!.podSelector, 'enclave'),
    'to gateways',
  )

  const stores = ['DATABASE_URL', 'REDIS_URL', 'S3_ENDPOINT'].map((name) => Number(new URL(env.gateway[name]!).port))
  const out = (side: Side) => of(side).flatMap(({ egress }) => egress ?? [])
  const reaches = (side: Side) => out(side).flatMap(({ ports }) => ports!.map(({ port }) => Number(port)))
  for (const port of stores) t.notOk(reaches('enclave').includes(port), `${port}`)
  for (const port of [...stores, portOf('enclave')]) t.ok(reaches('gateway').includes(port), `${port}`)
  for (const { ipBlock } of out('enclave').flatMap(({ to }) => to!))
    if (ipBlock?.cidr === '0.0.0.0/0')
      for (const net of ['10.0.0.0/8', '169.254.0.0/16']) t.ok(ipBlock.except!.includes(net), `not ${net}`)

  const networks = (service: ComposeService): readonly string[] =>
    Array.isArray(service.networks) ? service.networks : Object.keys(service.networks)
  for (const [name, service] of Object.entries(compose.services)) {
    const shared = networks(service).filter((network) => networks(composed('enclave')).includes(network))
    if (!name.startsWith('enclave')) t.same(shared, name === 'gateway' ? ['line'] : [], name)
  }
  t.ok(compose.networks['line']!.internal && compose.networks['data']!.internal)
})

t.test('the share of a budget ends with its window', async (t) => {
  const clock = fakeClock()
  const kept = made(Metrics, use(metrics), use(alone))
  const usage = usageMetrics.create({ metrics: kept, settings: v.parse(SettingsShape, {}), clock }, {}, 'usage')
  usage.stands!('organization', 'default', 'day', 0.93, clock.now() + 1000)
  const share = async () => /^sealgate_budget_share\{.*\} (.*)$/m.exec(await kept.registry.metrics())?.[1]
  t.equal(await share(), '0.93')
  await clock.pass(999)
  t.equal(await share(), '0.93')
  await clock.pass(1)
  t.equal(await share(), '0', 'nobody has used the budget since')
})

t.test('what is watched is measured', async (t) => {
  const gateway = await running(t, memory())
  const [scrape] = (parse(await read('prometheus.yaml')) as Prometheus).scrape_configs
  const { credential } = await gateway.gateway.keys.create({ scopes: ['api_key.read'] })
  const answer = await gateway.call('GET', scrape!.metrics_path, undefined, { authorization: `Bearer ${credential}` })
  t.equal(answer.status, 200, 'a key with this scope alone is enough')
  const types = [...(await answer.text()).matchAll(/^# TYPE (\w+) (\w+)$/gm)]
  const parts = (name: string, type: string) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name]
  const known = new Set(['up', ...types.flatMap(([, name, type]) => parts(name!, type!))])

  const kept = made(Metrics, use(metrics), use(alone))
  const { came, left, failed, saw, limited } = kept.observer as Required<Observer>
  came()
  left('GET /', 200, 1)
  failed('Unavailable')
  saw('main', 'answered', 1, null, { model: 'm', streams: false, cause: 'next' })
  saw('main', 'answered', 1, null, { model: 'm', streams: false, cause: 'rescue' })
  limited('tokens')
  const clock = fakeClock()
  const usage = usageMetrics.create({ metrics: kept, settings: v.parse(SettingsShape, {}), clock }, {}, 'usage')
  const counts = { input: 1, output: 1, cached: 0, reasoning: 0, cost: 1 }
  usage.used!({ model: 'm', backend: 'main', ...counts, organization: 'default', team: 'red', key: 'key_1', tags: [] })
  usage.stands!('team', 'default/red', 'day', 0.5, clock.now() + 1)
  const named = [...(await kept.registry.metrics()).matchAll(/[{,](\w+)="/g)].map(([, label]) => label!)
  const labelled = new Set(['job', 'instance', ...named])
  const values: Readonly<Record<string, readonly string[]>> = {
    route: routes.map(({ method, path }) => `${method} ${path}`),
    kind: Object.keys(errors),
    outcome: outcomes,
    job: [scrape!.job_name, '$job'],
  }
  const check = (query: Query, where: string) => {
    t.same(query.broken, [], where)
    t.ok(query.metrics.length > 0, where)
    for (const metric of query.metrics) t.ok(known.has(metric), `${where}: ${metric}`)
    for (const label of query.labels) t.ok(labelled.has(label), `${where}: ${label}`)
    for (const { label, with: value, pattern } of query.compared) {
      const one = pattern && !value.startsWith('$') ? new RegExp(`^(?:${value})$`) : null
      const may = values[label]
      if (may && value !== '$route')
        t.ok(
          may.some((text) => one?.test(text) ?? text === value),
          `${where}: ${label} ${value}`,
        )
    }
  }
  t.ok(readQuery('sum(rate(sealgate_requests_active{) ').broken.length > 0, 'a query that is none is found')

  const manual = await readFile('docs/operations.md', 'utf8')
  const rules = (parse(await read('alerts.yaml')) as Rules).groups.flatMap(({ rules }) => rules)
  t.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length)
  for (const { alert, expr, for: lasting, labels, annotations } of rules) {
    check(readQuery(expr), alert)
    t.match(lasting, /^\d+m$/, alert)
    t.match(labels.severity, /^(critical|warning|info)$/, alert)
    t.ok(annotations.summary, alert)
    t.match(manual, new RegExp(`^\\| \`${alert}\` \\| .{40,} \\|$`, 'm'), `${alert}: the manual tells what to do`)
  }
  const bounds = [...(await kept.registry.metrics()).matchAll(/sealgate_request_seconds_bucket\{le="([\d.]+)"/g)]
  for (const { alert, expr } of rules) {
    const [, seconds] = /histogram_quantile\(.*?\) > ([\d.]+)\s*(?:$|and )/s.exec(expr) ?? []
    if (seconds !== undefined)
      t.ok(
        bounds.some(([, bound]) => bound === seconds),
        `${alert}: a bucket ends there`,
      )
    const all = expr.slice(expr.indexOf('/ sum'))
    t.notMatch(all, /outcome!=|outcome=~"[^"]*broke/, `${alert}: a stream that broke has answered`)
  }
  const leftOut = [...new Set((await read('alerts.yaml')).match(/(?<=route!~")[^"]+/g))]
  t.equal(leftOut.length, 1, 'the same routes are left out of every share')
  for (const { method, path } of routes.filter(({ path }) => path.startsWith('/health')))
    t.match(`${method} ${path}`, new RegExp(`^(?:${leftOut[0]})$`))
  const unseen = rules.find(({ expr }) => expr === `up{job="${scrape!.job_name}"} == 0`)
  const { linger, drain } = config.gateway.server
  t.ok(parseInt(unseen?.for ?? '0') * 60_000 > linger + drain, 'one that gives no metrics is seen, and may drain')
  const { panels, templating } = JSON.parse(await read('dashboard.json')) as Dashboard
  const given = new Set(['__rate_interval', ...templating.list.map(({ name }) => name)])
  const taken = new Set<string>()
  for (const { title, gridPos, targets } of panels) {
    for (const { expr } of targets) {
      check(readQuery(expr), title)
      for (const [, name] of expr.matchAll(/\$(\w+)/g)) t.ok(given.has(name!), `${title}: $${name}`)
    }
    for (let x = 0; x < gridPos.w; x++)
      for (let y = 0; y < gridPos.h; y++) {
        const place = `${gridPos.x + x},${gridPos.y + y}`
        if (taken.has(place) || gridPos.x + x > 23) t.fail(`${title} overlaps`)
        taken.add(place)
      }
  }
  const selector = scrape!.kubernetes_sd_configs[0]!.selectors[0]!.label.split('=') as [string, string]
  t.equal(labels('gateway')[selector[0]], selector[1], 'the pods that are scraped are there')
  t.equal(scrape!.relabel_configs[0]!.regex, container('gateway').ports![0]!.name)
})

interface Prometheus {
  readonly scrape_configs: readonly {
    readonly job_name: string
    readonly metrics_path: string
    readonly kubernetes_sd_configs: readonly { readonly selectors: readonly { readonly label: string }[] }[]
    readonly relabel_configs: readonly { readonly regex: string }[]
  }[]
}

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string
      readonly expr: string
      readonly for: string
      readonly labels: { readonly severity: string }
      readonly annotations: { readonly summary: string }
    }[]
  }[]
}

interface Dashboard {
  readonly templating: { readonly list: readonly { readonly name: string }[] }
  readonly panels: readonly {
    readonly title: string
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
    readonly targets: readonly { readonly expr: string }[]
  }[]
}

const leaves = (node: unknown, path = ''): readonly (readonly [path: string, value: string])[] =>
  typeof node === 'string'
    ? [[path, node]]
    : typeof node === 'object' && node !== null
      ? Object.entries(node).flatMap(([name, each]) => leaves(each, path === '' ? name : `${path}.${name}`))
      : []

const bytesOf = (quantity: string) => parseInt(quantity) * ({ Mi: 2 ** 20, Gi: 2 ** 30 }[quantity.slice(-2)] ?? NaN)
