import type { SettingsInput } from '../core/settings.ts'

/** With `SEALGATE_WAY=long` no chat of a run goes straight; else a gateway does as it is started. */
const isLong = process.env['SEALGATE_WAY'] === 'long'

/** The settings of a gateway in the environment of the run. What a test itself says of the way holds. */
export const onWay = (settings: SettingsInput): SettingsInput =>
  isLong ? { ...settings, routing: { straight: false, ...settings.routing } } : settings
