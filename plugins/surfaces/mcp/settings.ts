import * as v from 'valibot'
import { section } from '../../../core/ports/section.ts'

const shape = v.optional(
  v.strictObject({
    /** Where clients find `/mcp`, with its path; without it only this machine's names and plain addresses are served. */
    url: v.optional(
      v.pipe(
        v.string(),
        v.url('an address that begins with http:// or https://'),
        v.regex(/^https?:/, 'an address that begins with http:// or https://'),
      ),
    ),
  }),
  {},
)

/** Where agents find the tools in the clear. */
export const mcpSettings = section('mcp', shape)
