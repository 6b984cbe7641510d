import * as v from 'valibot'
import { section } from '../../../core/ports/section.ts'

const shape = v.optional(v.pipe(v.string(), v.url('an address that begins with http:// or https://')))

/** Where callers make their keys. */
export const dashboardUrl = section('dashboardUrl', shape, { fixed: ['dashboardUrl'] })
