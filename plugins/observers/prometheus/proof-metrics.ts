import { Gauge } from 'prom-client'
import { plugin } from '../../../core/plugin.ts'
import { Clock, Log } from '../../../core/ports/platform.ts'
import { ProofObserver } from '../../../core/ports/proof-observer.ts'
import { Metrics } from './metrics.ts'

/** What proves the enclave, as metrics, as events of the log at each change, and for readiness. */
export const proofMetrics = plugin({
  port: ProofObserver,
  name: 'proof',
  needs: { metrics: Metrics, clock: Clock, log: Log },
  create: ({ metrics: { registry }, clock, log }): ProofObserver => {
    const pieces = new Map<string, number | null>()
    const told = new Set<string>()
    let refused: string | null = null
    new Gauge({
      name: 'sealgate_evidence_collateral_ends_seconds',
      help: 'Time until clients refuse a piece beside the evidence; 0 when it is missing.',
      labelNames: ['piece'],
      aggregator: 'min',
      registers: [registry],
      collect() {
        for (const [piece, until] of pieces)
          this.set({ piece }, until === null ? 0 : Math.max(0, (until - clock.now()) / 1000))
      },
    })
    new Gauge({
      name: 'sealgate_evidence_refused',
      help: 'Whether the gateway refuses the evidence of its own enclave.',
      registers: [registry],
      aggregator: 'max',
      collect() {
        this.set(refused === null ? 0 : 1)
      },
    })
    const isOver = (until: number | null | undefined): boolean => until == null || until <= clock.now()

    return {
      collateral(piece, until) {
        pieces.set(piece, until)
        if (isOver(until) === told.has(piece)) return
        if (told.delete(piece)) return log.info('collateral.back', { piece })
        told.add(piece)
        log.warn('collateral.ended', { piece, missing: until === null })
      },
      appraised(reason) {
        if (reason !== null && reason !== refused) log.warn('evidence.refused', { reason })
        refused = reason
      },
      ailing: () => [
        ...[...pieces].filter(([, until]) => isOver(until)).map(([piece]) => piece),
        ...(refused === null ? [] : ['evidence']),
      ],
    }
  },
})
