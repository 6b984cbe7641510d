import { access } from './mutations/access.ts'
import { backends } from './mutations/backends.ts'
import { consoles } from './mutations/console.ts'
import { clients } from './mutations/clients.ts'
import { counts } from './mutations/counts.ts'
import { dialects } from './mutations/dialects.ts'
import { door } from './mutations/door.ts'
import { configurations } from './mutations/configuration.ts'
import { drills } from './mutations/drill.ts'
import { files } from './mutations/files.ts'
import { guarding } from './mutations/guards.ts'
import { http } from './mutations/http.ts'
import { inference } from './mutations/inference.ts'
import { lives } from './mutations/live.ts'
import { logins } from './mutations/logins.ts'
import { madeFiles } from './mutations/made-files.ts'
import { medias } from './mutations/media.ts'
import { mcp } from './mutations/mcp.ts'
import type { Change, Mutation } from './mutations/mutation.ts'
import { picturesAndSounds } from './mutations/pictures-and-sounds.ts'
import { playgrounds } from './mutations/playground.ts'
import { production } from './mutations/production.ts'
import { programs } from './mutations/programs.ts'
import { proofs } from './mutations/proof.ts'
import { providers } from './mutations/providers.ts'
import { readers } from './mutations/readers.ts'
import { reference } from './mutations/reference.ts'
import { sealed } from './mutations/sealed.ts'
import { signIns } from './mutations/sign-in.ts'
import { starts } from './mutations/starts.ts'
import { suites } from './mutations/suite.ts'
import { surfaces } from './mutations/surfaces.ts'
import { usage } from './mutations/usage.ts'
import { webhook } from './mutations/webhook.ts'
import { wire } from './mutations/wire.ts'

export type { Mutation } from './mutations/mutation.ts'

/** Every mutation, room by room. */
export const mutations: readonly Mutation[] = [
  access,
  backends,
  consoles,
  clients,
  counts,
  dialects,
  door,
  configurations,
  drills,
  files,
  guarding,
  http,
  inference,
  lives,
  logins,
  madeFiles,
  medias,
  mcp,
  picturesAndSounds,
  playgrounds,
  production,
  programs,
  proofs,
  providers,
  readers,
  reference,
  sealed,
  signIns,
  starts,
  suites,
  surfaces,
  usage,
  webhook,
  wire,
].flatMap((room) =>
  room.flatMap(({ file, test, changes }) => changes.map((change: Change): Mutation => ({ file, test, ...change }))),
)
