import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Unavailable } from '../../core/errors.ts'

/** The code of the package as files: the folder above `core` and `plugins`, and how names of files end there. */
interface PackagedCode {
  readonly folder: string
  readonly ending: string
}

/** Of the package that is installed beside a bundle. */
const installed = (): PackagedCode => {
  try {
    return { folder: `${dirname(dirname(createRequire(import.meta.url).resolve('sealgate')))}/`, ending: '.js' }
  } catch (cause) {
    const message = 'A bundle has no files of the package: install sealgate beside it'
    throw new Unavailable(message, { cause, retryAfter: null })
  }
}

/** The code is near this file, unless a bundler moved it. Throws Unavailable where neither is found. */
export const packagedCode = (): PackagedCode => {
  const ending = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
  const folder = fileURLToPath(new URL('../../', import.meta.url))
  return existsSync(`${folder}plugins/shared/job-process${ending}`) ? { folder, ending } : installed()
}
