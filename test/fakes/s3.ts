import { readFileSync } from 'node:fs'
import { AwsClient } from 'aws4fetch'
import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { access, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** A real S3 that verifies signatures. Those that steer it throw when the server is not ours. */
export interface S3Server {
  readonly endpoint: string
  /** Under which a bucket is a host; null when unknown. */
  readonly domain: string | null
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Makes a new, empty one. */
  bucket(): Promise<string>
  /** Any request, signed. */
  ask(path: string, init?: RequestInit): Promise<Response>
  /** Stays connected and says nothing more. */
  pause(): void
  resume(): void
  /** Killed; what it stored stays. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Stops only what was started here. */
  close(): Promise<void>
}

const python = '/usr/bin/python3'
const known = '/usr/lib/python3/dist-packages/swift/common/middleware/s3api/s3api.py'

const identity = { region: 'us-east-1', accessKeyId: 'test:tester', secretAccessKey: 'testing' }

/** Swift's account, container, object and proxy servers, in one process on one device. */
const program = readFileSync('test/fakes/swift.py', 'utf8')

/** A listing gives few keys at a time, so that reading on is tested too. */
const confs = (home: string): Readonly<Record<string, string>> => {
  const common = `swift_dir = ${home}\ndevices = ${home}/devices\nmount_check = false\nlog_level = CRITICAL\n`
  const plain = (role: string) =>
    `[DEFAULT]\n${common}fallocate_reserve = 0\n[pipeline:main]\npipeline = ${role}-server\n[app:${role}-server]\nuse = egg:swift#${role}\n`
  const filters = 'catch_errors gatekeeper listing_formats bulk copy slo dlo versioned_writes'
  return {
    'swift.conf': `[swift-hash]\nswift_hash_path_prefix = a\nswift_hash_path_suffix = b\n[storage-policy:0]\nname = one\ndefault = yes\n`,
    'account.conf': plain('account'),
    'container.conf': plain('container'),
    'object.conf': plain('object'),
    'proxy.conf': `[DEFAULT]
${common}
[pipeline:main]
pipeline = catch_errors gatekeeper listing_formats bulk s3api tempauth copy slo dlo versioned_writes proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
allow_account_management = true
[filter:s3api]
use = egg:swift#s3api
storage_domain = s3.test
max_bucket_listing = 5
max_upload_part_num = 10000
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = ${identity.secretAccessKey} .admin
${filters
  .split(' ')
  .map((name) => `[filter:${name}]\nuse = egg:swift#${name}`)
  .join('\n')}
`,
  }
}

const freePorts = async (count: number) => {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1')
      await once(server, 'listening')
      return server
    }),
  )
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  for (const server of servers) {
    server.close()
    await once(server, 'close')
  }
  return ports
}

const notOurs = (): never => {
  throw new Error('Not ours to steer')
}

const speaking = (endpoint: string, keys: { region: string; accessKeyId: string; secretAccessKey: string }) => {
  const client = new AwsClient({ ...keys, service: 's3', retries: 0 })
  const ask = (path: string, init?: RequestInit) => client.fetch(`${endpoint}/${path}`, init)
  return {
    endpoint,
    ...keys,
    ask,
    async bucket() {
      const name = `t-${randomUUID()}`
      const { status } = await ask(name, { method: 'PUT' })
      if (status !== 200) throw new Error(`The bucket was answered with ${status}`)
      return name
    },
  }
}

const given = (text: string): S3Server => {
  const { origin, username, password, searchParams } = new URL(text)
  const keys = {
    region: searchParams.get('region') ?? identity.region,
    accessKeyId: decodeURIComponent(username),
    secretAccessKey: decodeURIComponent(password),
  }
  const steer = { pause: notOurs, resume: notOurs, stop: notOurs, start: notOurs, close: async () => {} }
  return { ...speaking(origin, keys), domain: null, ...steer }
}

/**
 * The server that S3_URL names (http://key:secret@host:port?region=…), unless one to `steer` is asked for; else Swift
 * started here; null, and why is printed, when that is not installed.
 */
export const startS3 = async ({ steer = false } = {}): Promise<S3Server | null> => {
  if (process.env.S3_URL && !steer) return given(process.env.S3_URL)
  const missing = await Promise.all([python, known].map((file) => access(file))).then(
    () => null,
    (fault: Error) => fault.message,
  )
  if (missing !== null) {
    console.error(`# no S3 server: install python3-swift (${missing})`)
    return null
  }
  const ports = await freePorts(4)
  const home = await mkdtemp(join(tmpdir(), 'swift-'))
  await mkdir(join(home, 'devices', 'disk'), { recursive: true })
  for (const [name, text] of Object.entries(confs(home))) await writeFile(join(home, name), text)
  const server = speaking(`http://127.0.0.1:${ports[0]}`, identity)
  let child: ChildProcess | null = null
  const kill = () => child?.kill('SIGKILL')
  process.once('exit', kill)

  const start = async () => {
    const started = spawn(python, ['-c', program, home, ...ports.map(String)], { stdio: ['ignore', 'ignore', 'pipe'] })
    child = started
    let output = ''
    started.stderr.on('data', (chunk) => (output = (output + chunk).slice(-2000)))
    for (let tries = 0; ; tries++) {
      const status = await server.ask('').then(
        (answer) => answer.status,
        () => 0,
      )
      if (status === 200) return
      // Half a minute and more, on a busy machine.
      if (tries > 800 || started.exitCode !== null) throw new Error(`swift did not come up (${status}): ${output}`)
      await sleep(50)
    }
  }
  const stop = async () => {
    if (!child) return
    const stopped = child
    child = null
    const gone = stopped.exitCode === null && stopped.signalCode === null ? once(stopped, 'exit') : null
    stopped.kill('SIGKILL')
    await gone
  }
  const close = async () => {
    process.off('exit', kill)
    await stop()
    await rm(home, { recursive: true, force: true })
  }

  try {
    await start()
  } catch (fault) {
    await close()
    throw fault
  }
  return {
    ...server,
    domain: 's3.test',
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    stop,
    start,
    close,
  }
}
