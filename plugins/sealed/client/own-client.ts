/** What programs and pages seal with: the entry `sealgate/client`. The console loads `client.ts` alone. */
export { type Client, type ConnectOptions, type Files, connect } from './client.ts'
export { newKek, newRagDek, refusalLines, rewrapRagDek, verdictLines } from './client.ts'
export { type Ehbp, type EhbpOptions, ehbp } from './ehbp.ts'
