import { freePace } from '../../core/dialects/loop-time.ts'
import type { Indexer } from '../../plugins/sealed/enclave/retrieval.ts'

/** Somebody who indexes and searches, and whom nobody charges for the time. */
export const indexer: Indexer = { holder: { organization: 'readers', key: 'key' }, pace: freePace() }
