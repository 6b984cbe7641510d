import './fakes/unwatched.ts'
import type { Service } from 'kubernetes-types/core/v1.d.ts'
import type { Ingress } from 'kubernetes-types/networking/v1.d.ts'
import { execFile, spawnSync } from 'node:child_process'
import { mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { parse } from 'yaml'
import { plainModels } from '../adapters/production/config/config.ts'
import { modeOf } from '../core/access/credential.ts'
import { pricesOf } from '../plugins/shared/prices.ts'
import { programs, startPostgres } from './fakes/postgres.ts'
import { program } from './fakes/served.ts'
import { folderOf } from './helpers.ts'
import { compose, config, folder, manifest, portOf, read } from './operations/files.ts'

const run = promisify(execFile)
const hasOpenssl = spawnSync('openssl', ['version']).status === 0

t.test('callers reach gateways by TLS, where they listen', async (t) => {
  const service = manifest<Service>('Service', 'gateway')
  const { rules } = manifest<Ingress>('Ingress', 'gateway').spec!
  t.same(rules![0]!.http!.paths[0]!.backend.service, {
    name: service.metadata!.name,
    port: { name: service.spec!.ports![0]!.name },
  })
  const caddy = await read('Caddyfile')
  t.match(caddy, `dynamic a gateway ${portOf('gateway')} {`)
  t.match(caddy, 'respond /metrics 404')
  t.match(await read('caddy.env.example'), /^SITE=/m)
})

t.test('Prometheus asks the same, and warns of the same, wherever it runs', async (t) => {
  const yaml = async <T>(file: string) => parse(await read(file)) as T
  const alone = await yaml<Scraping>('prometheus.yaml')
  const composed = await yaml<Scraping>('monitoring/prometheus.compose.yaml')
  const told = ({ scrape_configs: [job] }: Scraping) => [job!.job_name, job!.metrics_path, job!.authorization]
  t.same(told(composed), told(alone))
  t.equal(composed.scrape_configs[0]!.dns_sd_configs![0]!.port, portOf('gateway'))

  const { spec } = await yaml<ServiceMonitor>('monitoring/servicemonitor.yaml')
  const service = manifest<Service>('Service', 'gateway')
  t.same(spec.selector.matchLabels, service.metadata!.labels)
  const [endpoint] = spec.endpoints
  t.same([endpoint!.port, endpoint!.path], [service.spec!.ports![0]!.name, alone.scrape_configs[0]!.metrics_path])
  t.equal(endpoint!.relabelings[0]!.replacement, alone.scrape_configs[0]!.job_name, 'the job of every rule')
  const rules = await yaml<{ readonly spec: object }>('monitoring/rules.yaml')
  t.same(rules.spec, await yaml<object>('alerts.yaml'))
  t.same((await yaml<Resources>('monitoring/kustomization.yaml')).resources, ['servicemonitor.yaml', 'rules.yaml'])
})

t.test('what Compose mounts is there', async (t) => {
  const given = Object.values(compose.configs).map(({ file }) => file)
  for (const file of given) t.ok((await stat(join(folder, file))).isFile(), file)
  for (const { env_file: files } of Object.values(compose.services))
    for (const file of files ?? []) t.ok((await stat(join(folder, `${file}.example`))).isFile(), file)
})

t.test('every model has a price, and an organisation a budget', (t) => {
  for (const [name, model] of Object.entries(plainModels(config.gateway)))
    t.ok(pricesOf(model, 'standard')['eu']?.prompt_price_per_k !== undefined, name)
  t.ok(config.gateway.limits.organization.costPerMonth)
  t.end()
})

t.test('certificates are renewed by the authority that is there', { skip: !hasOpenssl && 'no openssl' }, async (t) => {
  const at = join(await folderOf(t), 'tls')
  const made = async () => {
    await run('sh', [`${folder}/certificates.sh`, at])
    const files = ['authority.crt', 'gateway/tls.crt', 'enclave/tls.crt']
    return Promise.all(files.map((file) => readFile(join(at, file), 'utf8')))
  }
  const [before, after] = [await made(), await made()]
  t.equal(after[0], before[0])
  t.not(after[1], before[1])
  await t.resolves(run('openssl', ['verify', '-CAfile', join(at, 'authority.crt'), join(at, 'enclave/tls.crt')]))
})

t.test('the command for the first key makes one', { skip: !hasOpenssl && 'no openssl' }, async (t) => {
  const command = /^echo "SEALGATE_KEY=.*$/m.exec(await read('README.md'))![0].replace(/ +#.*$/, '')
  const { stdout } = await run('sh', ['-c', command])
  t.equal(modeOf(stdout.trim().replace('SEALGATE_KEY=', '')), 'live')
})

const postgres = await startPostgres()
t.teardown(() => postgres?.close())

t.test('a backup that was restored has what it had', { skip: postgres === null && 'no PostgreSQL' }, async (t) => {
  const at = await folderOf(t)
  const blobs = join(at, 'blobs')
  await mkdir(blobs)
  await writeFile(join(blobs, 'one'), 'sealed')
  const file = join(at, 'config.json')
  await writeFile(file, JSON.stringify({ storage: { metadata: { use: 'postgres', url: postgres!.url } } }))
  const env = { PATH: `${await programs()}:${process.env['PATH']}`, SEALGATE_CONFIG: file, SEALGATE_DATA: at }
  const keys = async (...args: readonly string[]) =>
    (await run(process.execPath, [program, 'keys', ...args], { env })).stdout
  const names = async () => [...(await keys('list')).matchAll(/\b(kept|later)\b/g)].map(([name]) => name)
  const script = (name: string, path = env.PATH) =>
    run('sh', [resolve(folder, name)], {
      env: {
        ...env,
        PATH: path,
        DATABASE_URL: postgres!.url,
        REAL: env.PATH,
        BLOBS: blobs,
        BACKUP: join(at, 'backup'),
      },
    })

  const made = await keys('create', '--name', 'kept', '--json')
  const expression = /sed -n '([^']+)'/.exec(await read('README.md'))![1]!
  const taken = spawnSync('sed', ['-n', expression], { input: made, encoding: 'utf8' })
  t.equal(modeOf(taken.stdout.trim()), 'live', 'the key for Prometheus is taken out of what is printed')
  await script('backup.sh')
  const ending = async (name: string, code: number) => {
    const stubs = await folderOf(t)
    await writeFile(join(stubs, name), `#!/bin/sh\nPATH="$REAL" ${name} "$@"\nexit ${code}\n`, { mode: 0o755 })
    return `${stubs}:${env.PATH}`
  }
  await script('backup.sh', await ending('tar', 1))
  t.ok(await stat(join(at, 'backup/blobs.tar')), 'files may come and go meanwhile')
  await t.rejects(script('backup.sh', await ending('tar', 2)), 'a fault of tar ends the backup')
  await rm(join(at, 'backup'), { recursive: true })
  await t.rejects(script('backup.sh', await ending('mv', 1)))
  const moved = await readdir(join(at, 'backup'))
  t.same(moved.toSorted(), ['blobs.tar', 'rows.dump.new'], 'no new row is without its file')
  await script('backup.sh')
  await keys('create', '--name', 'later')
  await rm(join(blobs, 'one'))
  await writeFile(join(blobs, 'two'), 'later')
  t.same((await names()).toSorted(), ['kept', 'later'])
  await script('restore.sh')
  t.same(await names(), ['kept'])
  t.equal(await readFile(join(blobs, 'one'), 'utf8'), 'sealed')
  await t.rejects(stat(join(blobs, 'two')), { code: 'ENOENT' })
  t.equal((await stat(join(at, 'backup/rows.dump'))).mode & 0o777, 0o600, 'for its owner alone')
})

interface Scraping {
  readonly scrape_configs: readonly {
    readonly job_name: string
    readonly metrics_path: string
    readonly authorization: object
    readonly dns_sd_configs?: readonly { readonly port: number }[]
  }[]
}

interface ServiceMonitor {
  readonly spec: {
    readonly selector: { readonly matchLabels: object }
    readonly endpoints: readonly {
      readonly port: string
      readonly path: string
      readonly relabelings: readonly { readonly replacement: string }[]
    }[]
  }
}

interface Resources {
  readonly resources: readonly string[]
}
