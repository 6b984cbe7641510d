import * as v from 'valibot'
import type { Container, Fitting, Needs, Supplied } from '../container.ts'
import { type Generation, type Renewable, enclaveOf, generation } from './generation.ts'
import { Catalog } from '../inference/models/catalog.ts'
import { lazy, flaw } from '../plugin.ts'
import { Enclave } from '../ports/enclave.ts'
import type { Section } from '../ports/section.ts'
import { Tool } from '../ports/tool.ts'
import type { Upstream } from '../ports/upstream.ts'
import { RefusedConfiguration } from '../errors.ts'
import { refuseTwins } from './refuse-misfits.ts'
import { type Renewal, fixedSetting } from './reload.ts'
import { type Settings, type SettingsInput, SettingsShape, modelsWith, sorted } from '../settings.ts'

/** The comparison of fixed settings loads with the first reload. */
const fixing = lazy(() => import('./fixed-settings.ts'))

/** Checks settings of the core and of plugins. */
export interface SettingsCheck {
  /** Throws with the path of the wrong setting. */
  check(settings: SettingsInput): Settings
  /** Paths of plugins that stay for as long as the gateway runs. */
  readonly fixed: readonly string[]
}

/** A gateway whose settings list no models knows those of its backends only later. */
const mustName = ({ models }: Settings, path: string, model: string | undefined): void => {
  const isListed = Object.keys(models).length > 0
  if (isListed && model !== undefined && !Object.hasOwn(models, model))
    throw new RefusedConfiguration(`${path} is not one of the models`, [path])
}

/** The check of a gateway's settings with the sections of these plugins, and with others that no plugin may read. */
export const settingsCheck = (plugins: readonly Fitting<unknown>[], others: readonly Section[] = []): SettingsCheck => {
  const sections = [...new Set([...others, ...plugins.flatMap((fitting) => fitting.sections ?? [])])]
  const own = Object.fromEntries(
    sections.filter(({ row }) => row === undefined).map(({ name, shape }) => [name, shape]),
  )
  const whole = v.strictObject({ ...SettingsShape.entries, ...own, models: modelsWith(sections) })
  return {
    fixed: sections.flatMap(({ fixed = [] }) => fixed),
    check(input) {
      const checked = v.safeParse(whole, input)
      if (!checked.success) {
        const [issue] = checked.issues
        throw new RefusedConfiguration(`settings: ${flaw(issue)}`, [v.getDotPath(issue) ?? ''])
      }
      const settings = sorted(checked.output as Settings, sections)
      for (const [path, model] of sections.flatMap((section) => section.models?.(section.of(settings)) ?? []))
        mustName(settings, path, model)
      return settings
    },
  }
}

/** A file of the configuration is known by its path, and its tool by its name. */
const withoutTwins = (prepared: (next: Generation) => () => void) => (next: Generation) => {
  refuseTwins('tools', next.supply({ tools: Tool }).tools)
  return prepared(next)
}

/** Throws for a change of what stays for as long as the gateway runs. */
const refuseFixed = async (checks: SettingsCheck, before: Settings, after: Settings): Promise<void> => {
  const { firstDifference, fixedSettings } = await fixing()
  const fixed = firstDifference([...fixedSettings, ...checks.fixed], before, after)
  if (fixed !== null) throw fixedSetting(fixed)
}

/** A new enclave process has no keys yet, and the catalog no models of other backends. */
const begun = async (next: Generation, hasNewEnclave: boolean, others: readonly string[]): Promise<void> => {
  if (hasNewEnclave) await next.supply({ enclave: Enclave }).enclave.keys()
  await next.supply({ catalog: Catalog }).catalog.replaced?.(others)
}

const namesOfNew = (upstreams: readonly Fitting<Upstream>[], before: readonly Fitting<Upstream>[]): readonly string[] =>
  upstreams.filter((upstream) => !before.includes(upstream)).map(({ name }) => name)

const closed = (cause?: unknown): Error => new Error('The gateway is closed', { cause })

/** The current generation for new requests, and older ones until their last request has ended. */
export const generations = (
  base: Container,
  renewable: Renewable,
  parts: readonly Fitting<unknown>[],
  settings: Settings,
  checks: SettingsCheck,
  prepared: (next: Generation) => () => void,
) => {
  const ready = withoutTwins(prepared)
  let given = renewable
  let enclave = enclaveOf(renewable)
  let current = generation(base, { ...renewable, enclave }, parts, settings)
  const alive = new Set([current])
  let isOver = false
  const drop = async (generation: Generation): Promise<void> => {
    alive.delete(generation)
    await generation.dispose()
  }
  try {
    ready(current)()
  } catch (error) {
    void drop(current).catch(() => undefined)
    throw error
  }

  return {
    /** Supplies the parts of the current generation. */
    supply: <N extends Needs>(needs: N): Supplied<N> => current.supply(needs),
    /** All steps that may fail come before the switch, which cannot fail. */
    async renew(renewal: Renewal): Promise<void> {
      const told = checks.check(renewal.settings)
      await refuseFixed(checks, settings, told)
      if (isOver) throw closed()
      const wanted: Renewable = { ...given, ...renewal }
      const around = enclaveOf(wanted)
      const next = generation(base, { ...wanted, enclave: around }, parts, told)
      alive.add(next)
      try {
        const turn = ready(next)
        await begun(next, around !== enclave, namesOfNew(wanted.upstreams, given.upstreams))
        turn()
      } catch (error) {
        await drop(next)
        throw isOver ? closed(error) : error
      }
      const before = current
      current = next
      given = wanted
      enclave = around
      before.retire(() => alive.delete(before))
    },
    /** The generation for a request that begins now. */
    current: () => current,
    /** Ends every generation, also those whose requests still run. */
    async dispose(): Promise<void> {
      isOver = true
      await Promise.all([...alive].map((generation) => generation.dispose()))
    },
  }
}
