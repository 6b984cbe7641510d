import { readFileSync } from 'node:fs'

const house = { use: 'vllm', baseUrl: 'http://127.0.0.1:9/v1' }
const upstreams = [{ provider: 'house' }]

/** Sound, so that each of the others is wrong in one thing. */
export const soundConfiguration = {
  log: { level: 'silent' },
  providers: { house },
  models: { small: { upstreams } },
  enclave: null,
}

/** What is changed in the whole, in its provider or in its model, and the sentence that refuses the change. */
interface WrongRow {
  readonly in?: 'house' | 'small'
  readonly changed: object
  readonly sentence: string
}

const changedBy = ({ in: place, changed }: WrongRow): object => {
  if (place === 'house') return { ...soundConfiguration, providers: { house: { ...house, ...changed } } }
  if (place === 'small') return { ...soundConfiguration, models: { small: { upstreams, ...changed } } }
  return { ...soundConfiguration, ...changed }
}

const rows = JSON.parse(readFileSync('test/wrong/configurations.json', 'utf8')) as readonly WrongRow[]

/** Each is wrong in one thing. The sentence has line and column, the path, what is wrong and the mend. */
export const wrongConfigurations = rows.map((row) => [changedBy(row), row.sentence] as const)
