/** The part of `ws` that is used here. */
declare module 'ws' {
  import type { EventEmitter } from 'node:events'
  import type { IncomingMessage } from 'node:http'
  import type { Duplex } from 'node:stream'

  export class WebSocket extends EventEmitter {
    static readonly OPEN: 1
    readonly readyState: number
    /** Bytes that the peer has not taken yet. */
    readonly bufferedAmount: number
    send(data: string | Uint8Array, options: { readonly binary: boolean }, done?: (error?: Error) => void): void
    ping(): void
    pong(data: Uint8Array): void
    close(code?: number, reason?: string): void
    /** Takes nothing more from the peer. */
    pause(): void
    terminate(): void
  }

  export class WebSocketServer {
    constructor(options: {
      readonly noServer: true
      readonly clientTracking: false
      readonly perMessageDeflate: false
      readonly autoPong: false
      readonly maxPayload: number
      readonly maxFragments: number
      readonly closeTimeout: number
    })
    handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, taken: (opened: WebSocket) => void): void
  }
}
