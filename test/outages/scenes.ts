import type { Declared, Scene } from './scene.ts'
import { type Stage, type Steered, hedge, patience, rest, total } from './stage.ts'

const down = [503]
const failed = [502, 503]

/** Docs/operations.md, "When something is down", as codes beside 200: by what is away. */
const counted: Declared = { chat: down, stream: down, decision: down, sealed: down }
const keyed: Declared = { ...counted, models: down, upload: down, content: down, list: down }
const rows: Declared = { ...keyed, ready: down }
const blobs: Declared = { upload: down, content: down }
const confidential: Declared = { sealed: down }
const backends: Declared = { chat: failed, stream: failed, decision: failed, sealed: failed }

/** Paused and going in turn. */
const flapping = (of: (stage: Stage) => readonly Steered[]): Pick<Scene, 'begin' | 'end'> => {
  let timer: NodeJS.Timeout | undefined
  return {
    begin(stage) {
      let paused = false
      timer = setInterval(() => {
        paused = !paused
        for (const enclave of of(stage)) enclave[paused ? 'pause' : 'resume']()
      }, turn)
    },
    end(stage) {
      clearInterval(timer)
      for (const enclave of of(stage)) enclave.resume()
    },
  }
}
const turn = 300

/** Ms in which a silent Redis, and a silent enclave, is noticed; with what a busy machine adds. */
const [noticed, unheard] = [50, 8_250]
const soon = 2_000

/** With gateways that differ in `limits.whenDown`. */
export const withRedis = (lasting: number): readonly Scene[] => [
  {
    name: 'Redis is killed',
    lasting,
    begin: ({ redis }) => redis.stop(),
    end: ({ redis }) => redis.start(),
    declared: { byDefault: counted, closed: keyed },
    added: noticed,
    recovery: soon,
  },
  {
    name: 'Redis is silent',
    lasting: 2_500,
    begin: ({ redis }) => redis.pause(),
    end: ({ redis }) => redis.resume(),
    declared: { byDefault: counted, closed: keyed },
    added: noticed,
    recovery: soon,
  },
  {
    name: 'Redis flaps',
    atNight: true,
    lasting: 2_500,
    ...flapping(({ redis }) => [redis]),
    declared: { byDefault: counted, closed: keyed },
    added: noticed,
    recovery: soon,
  },
]

/** With a gateway that lets pass while Redis is slow, so that it is only the one that is away. */
export const scenes: readonly Scene[] = [
  {
    name: 'PostgreSQL is stopped',
    lasting: 3_000,
    begin: ({ postgres }) => postgres.stop(),
    end: ({ postgres }) => postgres.start(),
    declared: { open: rows },
    added: patience,
    recovery: soon,
  },
  {
    name: 'PostgreSQL is silent',
    lasting: 6_000,
    begin: ({ postgres }) => postgres.pause(),
    end: ({ postgres }) => postgres.resume(),
    declared: { open: rows },
    added: 2 * patience + 500,
    recovery: soon,
  },
  {
    name: 'S3 is stopped',
    lasting: 2_500,
    begin: ({ s3 }) => s3.stop(),
    end: ({ s3 }) => s3.start(),
    declared: { open: blobs },
    added: 1_000,
    recovery: soon,
  },
  {
    name: 'S3 is silent',
    lasting: 3_000,
    begin: ({ s3 }) => s3.pause(),
    end: ({ s3 }) => s3.resume(),
    declared: { open: blobs },
    added: patience + 500,
    recovery: soon,
  },
  {
    name: 'both stores and both enclaves flap',
    atNight: true,
    lasting: 3_000,
    ...flapping(({ postgres, s3, enclaves }) => [postgres, s3, ...enclaves]),
    declared: {},
    added: 1_000,
    recovery: soon,
  },
  {
    name: 'one of two enclaves is killed',
    atNight: true,
    lasting: 2_000,
    begin: ({ enclaves }) => enclaves[1].stop(),
    end: ({ enclaves }) => enclaves[1].start(),
    declared: { open: confidential },
    added: 500,
    recovery: soon,
  },
  {
    name: 'both enclaves are killed',
    lasting: 2_000,
    begin: ({ enclaves }) => Promise.all(enclaves.map((enclave) => enclave.stop())),
    async end({ enclaves }) {
      for (const enclave of enclaves) await enclave.start()
    },
    declared: { open: confidential },
    added: 500,
    recovery: soon,
  },
  {
    name: 'one of two enclaves is silent',
    atNight: true,
    lasting: 9_000,
    // The first to come back is the one that the client has keys of by now.
    begin: ({ enclaves }) => enclaves[0].pause(),
    end: ({ enclaves }) => enclaves[0].resume(),
    declared: { open: confidential },
    added: unheard,
    recovery: soon,
  },
  {
    name: 'both enclaves are silent',
    lasting: 9_000,
    begin: ({ enclaves }) => enclaves.map((enclave) => enclave.pause()),
    end: ({ enclaves }) => enclaves.map((enclave) => enclave.resume()),
    declared: { open: confidential },
    added: unheard,
    recovery: soon,
  },
  {
    name: 'a provider refuses',
    atNight: true,
    lasting: 1_500,
    begin: ({ providers }) => providers[0].turn('refuses'),
    end: ({ providers }) => providers[0].turn('answers'),
    declared: {},
    added: 100,
    recovery: soon,
  },
  {
    name: 'a provider is silent',
    lasting: 1_500,
    begin: ({ providers }) => providers[0].turn('silent'),
    end: ({ providers }) => providers[0].turn('answers'),
    declared: {},
    added: hedge + 100,
    recovery: soon,
  },
  {
    name: 'a provider flaps',
    atNight: true,
    lasting: 3_000,
    begin: ({ providers }) => providers[0].flap(turn),
    end: ({ providers }) => providers[0].turn('answers'),
    declared: {},
    added: hedge + 100,
    recovery: soon,
  },
  {
    name: 'all providers refuse',
    lasting: 1_500,
    begin: ({ providers }) => Promise.all(providers.map((provider) => provider.turn('refuses'))),
    end: ({ providers }) => Promise.all(providers.map((provider) => provider.turn('answers'))),
    declared: { open: backends },
    added: 500,
    recovery: rest + 1_000,
  },
  {
    name: 'all providers are silent',
    lasting: 3_000,
    begin: ({ providers }) => Promise.all(providers.map((provider) => provider.turn('silent'))),
    end: ({ providers }) => Promise.all(providers.map((provider) => provider.turn('answers'))),
    declared: { open: backends },
    added: total + 250,
    recovery: rest + 1_000,
  },
]
