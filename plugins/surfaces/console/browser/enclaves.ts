import { moment, span } from './format.ts'
import { Refused, type Gateway, pathOf } from './gateway.ts'
import { badge } from './parts.ts'
import { table } from './table.ts'

/** What `GET /rvenc/keys` answers. */
interface Keyset {
  readonly keys: readonly { readonly not_after: number }[]
  readonly evidence: { readonly type: string }
}

interface Enclave {
  readonly name: string
  /** Why the enclave gives no keys; null where it gives some. */
  readonly refused: string | null
  readonly evidence: string | null
  /** When the last of its keys ends, as Unix time in ms. */
  readonly until: number | null
}

/** The largest number of enclaves that the console asks. */
const mostEnclaves = 16

const askEnclave = async (gateway: Gateway, name: string | null): Promise<Enclave> => {
  const named = name ?? 'enclave'
  try {
    const { keys, evidence } = await gateway.read<Keyset>(pathOf('/rvenc/keys', { enclave: name }))
    const until = Math.max(...keys.map(({ not_after }) => not_after))
    return { name: named, refused: null, evidence: evidence.type, until }
  } catch (error) {
    if (!(error instanceof Refused) || error.status === 401) throw error
    return { name: named, refused: error.message, evidence: null, until: null }
  }
}

/** The enclaves of a gateway. `connected` is the number that it connects to; 0 stands for the enclave that it has started. */
export const enclavesOf = (gateway: Gateway, connected: number): Promise<readonly Enclave[]> =>
  Promise.all(
    connected === 0
      ? [askEnclave(gateway, null)]
      : Array.from({ length: Math.min(connected, mostEnclaves) }, (_, at) => askEnclave(gateway, `e${at}`)),
  )

export const enclaveTable = (rows: readonly Enclave[], curl: string): HTMLElement =>
  table<Enclave>({
    title: 'Enclaves',
    file: 'enclaves',
    rows,
    curl,
    empty: '',
    columns: [
      { head: 'Enclave', value: ({ name }) => name },
      {
        head: 'State',
        value: ({ refused }) => refused ?? 'answers',
        show: ({ refused }) => badge(refused === null ? 'good' : 'bad', refused ?? 'answers'),
      },
      {
        head: 'Evidence',
        value: ({ evidence }) => evidence,
        show: ({ evidence }) => (evidence === 'dev' ? badge('mixed', 'dev, which proves nothing') : (evidence ?? '–')),
      },
      {
        head: 'Keys until',
        value: ({ until }) => until && new Date(until).toISOString(),
        show: ({ until }) => (until === null ? '–' : `${moment(until)}, ${span(until - Date.now())} from now`),
      },
    ],
  })
