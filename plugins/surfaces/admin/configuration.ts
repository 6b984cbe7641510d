import { one } from '../../../core/container.ts'

/** The source of a setting: the file, its default, or a variable that the file names. */
export const settingOrigins = ['written', 'default', 'variable'] as const

/** What is shown of a setting. An `empty` one is a list or an object without members. */
export const settingContents = ['value', 'empty', 'hidden'] as const

/** How much of a setting operators see. */
export interface ShownSetting {
  readonly origin: (typeof settingOrigins)[number]
  readonly content: (typeof settingContents)[number]
  /** Null where the value is not shown, and where it is null. */
  readonly value: string | number | boolean | null
  /** The `NAME` of `$NAME`; null where the value comes from no variable. */
  readonly variable: string | null
  /** Whether the variable is set; null without one. */
  readonly set: boolean | null
}

export interface PlacedSetting extends ShownSetting {
  /** Keys from the outermost one inwards; places of lists are numbers from 0. */
  readonly path: readonly string[]
}

export interface EffectiveConfiguration {
  /** The name of the file without its folder; null where environment variables are the configuration. */
  readonly file: string | null
  /** When the configuration in effect was read, in Unix ms. */
  readonly readAt: number
  readonly settings: readonly PlacedSetting[]
}

export const changeKinds = ['added', 'removed', 'changed'] as const
export type ChangeKind = (typeof changeKinds)[number]

/** A setting that the file has differently from what is in effect. */
export interface ConfigurationChange {
  readonly path: readonly string[]
  readonly change: ChangeKind
  /** In effect; null where it is added. */
  readonly before: ShownSetting | null
  /** In the file; null where it is removed. */
  readonly after: ShownSetting | null
  /** Whether a running gateway keeps the setting: a reload is refused, and a restart takes it. */
  readonly restart: boolean
}

export interface ConfigurationComparison {
  /** What is wrong with the file, in sentences; its plugins are not asked. */
  readonly faults: readonly string[]
  /** Null where the file has a fault. */
  readonly changes: readonly ConfigurationChange[] | null
}

/** A chain in place of that of the file. */
export interface TriedChain {
  readonly upstreams: readonly {
    readonly provider: string
    readonly model?: string | undefined
    readonly weight?: number | undefined
    readonly priority?: number | undefined
    readonly context_tokens?: number | undefined
  }[]
}

/** A backend beside those of the file. */
export interface TriedProvider {
  readonly use: string
  readonly baseUrl?: string | undefined
  /** `$NAME`. */
  readonly apiKey?: string | undefined
}

/** Parts of a configuration that are tried before an operator writes them into the file. */
export interface TriedParts {
  readonly models: Readonly<Record<string, TriedChain>>
  readonly providers: Readonly<Record<string, TriedProvider>>
  readonly guards: Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>
  /** Values of the variables of new backends, by name. The trial forgets them. */
  readonly secrets: Readonly<Record<string, string>>
  /** The model that is called once; null for no call. */
  readonly call: string | null
}

/** How a test call ended. */
export interface TestCall {
  readonly model: string
  readonly status: number
  readonly ms: number
  /** The gateway's own sentence; null where the call was answered. */
  readonly fault: string | null
}

export interface ConfigurationTrial extends ConfigurationComparison {
  /** Null where nothing was called. */
  readonly call: TestCall | null
}

/** The configuration that a gateway runs with, and the file that it came from. No value of a secret leaves it. */
export interface Configuration {
  /** Throws Unconfigured where the gateway has no configuration that can be read again. */
  inEffect(): Promise<EffectiveConfiguration>
  /** Reads the file again, and changes nothing. */
  compare(): Promise<ConfigurationComparison>
  /** All faults of the file in sentences, those of its plugins too, which are loaded for that. */
  check(): Promise<readonly string[]>
  /** The same of the file with these parts in it, the difference that they would make, and a test call. Nothing is written. */
  try(parts: TriedParts): Promise<ConfigurationTrial>
}

export const Configuration = one<Configuration>('Configuration')
