import { randomBytes } from 'node:crypto'
import { open, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type JsonObject } from '../../../../core/dialects/json-object.ts'
import { flushFolder } from '../../../../plugins/storage/shared/fsync.ts'
import type { Calibration } from '../../../../plugins/shared/decisions/settings.ts'
import { type Parsed, parseJsonc } from '../../config/jsonc.ts'

/** Null when the text does not name the model; an inherited name such as `constructor` does not count. */
const modelIn = (value: unknown, model: string): JsonObject | null => {
  const models = isJsonObject(value) ? value['models'] : null
  const found = isJsonObject(models) && Object.hasOwn(models, model) ? models[model] : null
  return isJsonObject(found) ? found : null
}

/** The rest of the text stays as it is, letter for letter. Throws for a model that the text does not name. */
export const withCalibration = (text: string, model: string, calibration: Calibration): string => {
  const parsed = parseJsonc(text)
  const settings = modelIn(parsed.value, model)
  if (settings === null) throw new Error('the configuration does not name the model under models')
  const printed = JSON.stringify(calibration)
  const edited = edit(text, parsed, ['models', model], settings, printed)
  const expected = { ...settings, calibration: JSON.parse(printed) as unknown }
  if (!isDeepStrictEqual(modelIn(parseJsonc(edited).value, model), expected))
    throw new Error('the configuration could not be changed')
  return edited
}

/** Replaces the old member where it stands, or puts a new one in front of the others. */
const edit = (text: string, parsed: Parsed, path: readonly string[], settings: object, printed: string): string => {
  const old = parsed.span([...path, 'calibration'])
  if (old !== null) return text.slice(0, old.from) + printed + text.slice(old.to)
  const from = parsed.span(path)!.from + 1
  const [first] = Object.keys(settings)
  // A new member stands where the first one stands, so that its indentation is that of its neighbours.
  const lead = first === undefined ? '' : (/^\s*/.exec(text.slice(from))?.[0] ?? '')
  const comma = first === undefined ? '' : ','
  return `${text.slice(0, from)}${lead}"calibration": ${printed}${comma}${text.slice(from)}`
}

/** Puts another text in the place of a file at once, with the same permissions; a link stays a link. */
export const replaceFile = async (file: string, text: string): Promise<void> => {
  const target = await realpath(file)
  const { mode } = await stat(target)
  const fresh = `${target}.${randomBytes(6).toString('hex')}`
  try {
    const handle = await open(fresh, 'wx', mode & 0o777)
    try {
      await handle.chmod(mode & 0o777)
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(fresh, target)
  } catch (cause) {
    await rm(fresh, { force: true })
    throw cause
  }
  await flushFolder(dirname(target))
}
