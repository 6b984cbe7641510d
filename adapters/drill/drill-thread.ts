import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import type { CallerSaw, DrilledLink, SceneResult } from '../../plugins/surfaces/admin/drill.ts'
import type { DrillOrder, DrillWord } from './drill-order.ts'
import { drilledBackend, startDrilled } from './drilled-gateway.ts'
import { paceOf, placeName, plannedActs, refusing } from './planned-acts.ts'
import { type Result, type StartGateway, playActs } from './play-acts.ts'
import { type Sight, chat } from './tongue.ts'

const { plan, scenes } = workerData as DrillOrder

// Linux has a priority for each thread: calls of the gateway that serves go first where the cores are few.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)

parentPort?.once('message', () => process.exit())

/** A gateway that serves needs cores too, so a drill beside it takes longer than on a quiet machine. */
const busy = 2
/** Ms that a signal of life may be late for the first token. */
const late = 200
/** Ms of a quiet machine. */
const longest = 20_000
const longestCall = 18_000

const pace = paceOf(plan)

const startPlanned =
  (chain: readonly DrilledLink[]): StartGateway =>
  (faulty, dead, settings) =>
    startDrilled(
      [
        ...chain.map(({ continues }, place) => {
          const name = placeName(place)
          return drilledBackend(name, `${faulty}/${name}`, continues)
        }),
        drilledBackend(refusing, dead, chain[0]?.continues === true),
      ],
      settings,
    )

const endingOf = ({ broken, error, done }: Sight): CallerSaw['ending'] =>
  broken ? 'broken' : error !== null ? 'error' : done ? 'whole' : 'broken'

const sawOf = (sight: Sight | null, per: number): CallerSaw => {
  if (sight === null) return { status: null, characters: 0, ending: 'left', firstToken: null, ms: null }
  const full = (ms: number): number => Math.round(ms / per)
  const { status, text, firstToken, ms } = sight
  return {
    status: status === 0 ? null : status,
    characters: text.length,
    ending: endingOf(sight),
    firstToken: firstToken === null ? null : full(firstToken),
    ms: full(ms),
  }
}

const resultOf = ({ scene: { name, title, silent }, mark, note, sight, attempts }: Result): SceneResult => ({
  scene: name,
  title,
  mark,
  note,
  caller: sawOf(sight, silent === true ? pace : 1),
  asked: attempts,
})

const say = (word: DrillWord): void => parentPort?.postMessage(word)

playActs(
  plannedActs(plan, scenes),
  {
    start: startPlanned(plan.chain),
    tongue: chat,
    pace,
    late,
    stalled: plan.timeouts.stalled * pace,
    most: longestCall,
    slow: () => busy,
    longest,
  },
  (result) => say(resultOf(result)),
).then(
  () => say(null),
  (cause: unknown) => {
    // What nobody takes ends the thread, and is the error that its starter hears.
    throw cause
  },
)
