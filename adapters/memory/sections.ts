import type * as v from 'valibot'
import type { Section } from '../../core/ports/section.ts'
import { issuerSettings } from '../../plugins/credentials/oidc/issuer-settings.ts'
import { metricsSettings } from '../../plugins/observers/prometheus/usage-metrics.ts'
import { fileSettings } from '../../plugins/sealed/files/settings.ts'
import { type CalibratedInput, decisionSettings } from '../../plugins/shared/decisions/settings.ts'
import { keepsakeSettings } from '../../plugins/shared/dialects/keepsakes.ts'
import { type PricedInput, priceSettings } from '../../plugins/shared/prices.ts'
import { type RuleInput, rulesSettings } from '../../plugins/shared/rules/settings.ts'
import { consoleSettings } from '../../plugins/surfaces/console/settings.ts'
import { dashboardUrl } from '../../plugins/surfaces/docs/settings.ts'
import { mcpSettings } from '../../plugins/surfaces/mcp/settings.ts'
import { quotaSettings } from '../../plugins/usage/quotas.ts'
import { betas } from '../../plugins/shared/dialects/betas-settings.ts'
import { sockets } from '../../plugins/surfaces/v1/settings.ts'

const shipped = {
  mcp: mcpSettings,
  console: consoleSettings,
  dashboardUrl,
  decision: decisionSettings,
  prices: priceSettings,
  issuers: issuerSettings,
  betas,
  sockets,
  keepsakes: keepsakeSettings,
  files: fileSettings,
  quotas: quotaSettings,
  metrics: metricsSettings,
}

/** What the plugins of this package take of the settings of a gateway. */
export type ShippedSettings = {
  readonly [Name in keyof typeof shipped]?: v.InferInput<(typeof shipped)[Name]['shape']>
}

declare module '../../core/ports/section.ts' {
  interface SectionInputs extends ShippedSettings {}
  interface MemberInputs extends CalibratedInput, PricedInput {}
  interface RowInputs {
    readonly rules: RuleInput
  }
}

/** The settings that plugins of this package bring. */
export const sections: readonly Section[] = [...Object.values(shipped), rulesSettings]

const shapesOf = <T extends Readonly<Record<string, Section>>>(all: T) =>
  Object.fromEntries(Object.entries(all).map(([name, { shape }]) => [name, shape])) as {
    readonly [Name in keyof T]: T[Name]['shape']
  }

/** The same as members of a configuration. */
export const sectionShapes = shapesOf(shipped)
