import { sections } from '../../memory/sections.ts'
import { fixedSettings } from '../../../core/generations/fixed-settings.ts'

/** What a gateway keeps as long as it runs: its own settings, and parts of its environment. */
export const fixedPaths: readonly string[] = [
  ...fixedSettings,
  ...sections.flatMap(({ fixed = [] }) => fixed),
  'server',
  'log',
  'outside',
  'storage',
  'limits.redis',
  'limits.patience',
  'limits.whenDown',
  'enclave.connect',
  'enclave.listen',
  'enclave.tls',
  'enclave.collateral',
  'enclave.releases',
  'enclave.notices',
]

/** Whether a running gateway keeps the setting at this path of keys. */
export const isFixed = (path: readonly string[]): boolean =>
  fixedPaths.some((fixed) => fixed.split('.').every((key, at) => path[at] === key))
