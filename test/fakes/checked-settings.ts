import * as v from 'valibot'
import { sections } from '../../adapters/memory/sections.ts'
import { settingsCheck } from '../../core/generations/generations.ts'
import {
  type ModelInput,
  type ModelSettings,
  type Settings,
  type SettingsInput,
  modelWith,
} from '../../core/settings.ts'

/** Settings as a gateway with the plugins of this package checks them. */
export const checkedSettings = (input: SettingsInput): Settings => settingsCheck([], sections).check(input)

/** Settings of one model, as the same gateway checks them. */
export const checkedModel = (input: ModelInput | object): ModelSettings => v.parse(modelWith(sections), input)
