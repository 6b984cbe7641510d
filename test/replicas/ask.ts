import { Broken, Disturbed, type Scene, mustUnlessDisturbed, names } from './scene.ts'
import type { Asking, Sent } from './send.ts'
import { crowd } from './stage.ts'

const longest = 40_000

/** Sends to one of the replicas, and counts it. */
export const ask = ({ stage, lane }: Scene, replica: number, asking: Asking): Sent => {
  lane.figures.requests++
  return stage.send(stage.bases[replica % stage.bases.length]!, asking)
}

/** What an administrator is answered; null when the organisation is crowded. */
export const order = async <T>(
  scene: Scene,
  replica: number,
  method: string,
  path: string,
  body?: object,
): Promise<T | null> => {
  const { calm, boss, organization, stage } = scene
  scene.calm = false
  const sent = ask(scene, replica, { method, path, key: boss, ...(body && { body }) })
  const { status } = await within(sent.head, 'an administrator is not answered')
  const text = await sent.whole
  if (status === 503) throw new Disturbed()
  if (status === 429) {
    const held = stage.provider.held(names.organization(scene))
    mustUnlessDisturbed(!calm || held >= crowd, () => `${organization} is refused with ${held} in flight`)
    return null
  }
  if (status >= 300) throw new Broken(`${method} ${path} is answered with ${status}: ${text}`)
  return (JSON.parse(text) as { readonly data: T }).data
}

export const within = async <T>(promise: Promise<T>, fault: string): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Broken(fault, true)), longest)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
