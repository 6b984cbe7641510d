import { drill } from '../../outages/drill.ts'
import { told } from '../../outages/scene.ts'
import { setStage } from '../../outages/stage.ts'

/** What callers see while a server is away, Redis for ten seconds. */
export const outages = async (): Promise<readonly string[]> => {
  const stage = await setStage()
  if (stage === null) return ['a server is not installed']
  try {
    const lines: string[] = []
    const played = drill(stage, 10_000, true)
    let step = await played.next()
    for (; !step.done; step = await played.next()) {
      const { scene, seen } = step.value
      const wrong = seen.wrong.length === 0 ? '' : `; ${seen.wrong.length} NOT DECLARED: ${seen.wrong[0]}`
      lines.push(`${scene.name}: ${told(seen)}${wrong}`)
    }
    const { files, usage, places, requests, sockets } = step.value
    lines.push(
      `${files.acknowledged} files acknowledged, ${files.lost} lost, ${files.hollow} without their bytes; ` +
        `${usage.acknowledged} calls acknowledged, ${usage.counted} counted; ` +
        `${places} places and ${requests} requests left, sockets ${sockets?.before} before, ${sockets?.after} after`,
    )
    return lines
  } finally {
    await stage.close()
  }
}
