import hooks from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

/**
 * Comes before the library of tests, which follows every promise to tell whose error a late one is. That takes a fifth of
 * the CPU. Here a late error ends the process, and the suite shows where the file stood.
 */
const none = {
  enable: () => none,
  disable: () => none,
}
Object.assign(hooks, { createHook: () => none })
syncBuiltinESMExports()
