import { once } from 'node:events'

/** True for SIGTERM, where somebody may have to be shown that it should stop sending; a second signal ends the process at once. */
export const signalled = (): Promise<boolean> =>
  Promise.race([once(process, 'SIGTERM').then(() => true), once(process, 'SIGINT').then(() => false)])
