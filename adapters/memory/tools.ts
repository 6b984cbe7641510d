import { use } from '../../core/plugin.ts'
import getTime from '../../plugins/tools/getTime.ts'

/** Listed outside, run inside: both sides are given the same ones. */
export const tools = [use(getTime)]
