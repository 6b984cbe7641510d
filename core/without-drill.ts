import { plugin } from './plugin.ts'
import { Drill } from './ports/drill.ts'

/** Of a gateway that plays no faults. */
export const withoutDrill = plugin({
  port: Drill,
  name: 'without-drill',
  create: (): Drill => ({ scenes: [], async *play() {} }),
})
