/** One call of the other side. */
export interface RpcCall {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  /** Aborted when the other side cancels the call, or is gone. */
  readonly signal: AbortSignal
  notify(method: string, params: object): void
}

/** Throws `RpcError` for what the other side did wrong. */
export type AnswerCall = (call: RpcCall) => Promise<object>

/** What the protocol calls an error; a tool that fails has a result that says so instead. */
export class RpcError extends Error {
  readonly code: number
  readonly data: object | null

  constructor(code: number, message: string, data: object | null = null) {
    super(message)
    this.name = 'RpcError'
    this.code = code
    this.data = data
  }
}

/** Codes of JSON-RPC 2.0, behind them those of MCP, and `refused` of the range that servers may use freely. */
export const rpcErrorCodes = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  inside: -32603,
  header: -32020,
  version: -32022,
  refused: -32000,
} as const
