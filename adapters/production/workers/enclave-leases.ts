import type { EnclaveProcess } from '../enclave/enclave-child.ts'
import type { Member } from './pool.ts'

/** The workers of each enclave process. A replaced process ends when its last worker has returned it. */
export interface EnclaveLeases {
  lend(enclave: EnclaveProcess, member: Member): void
  /** Called when a worker has finished its last request with the process at this socket. */
  back(socket: string, member: Member): void
  /** Marks a process as replaced: no worker begins new requests with it. */
  retire(enclave: EnclaveProcess): void
}

/** A worker that ends returns its process by that: a crash never keeps a replaced process alive. */
export const enclaveLeases = (): EnclaveLeases => {
  const lent = new Map<EnclaveProcess, Set<Member>>()
  const retired = new Set<EnclaveProcess>()

  const settle = (enclave: EnclaveProcess) => {
    if (!retired.has(enclave) || lent.get(enclave)?.size) return
    retired.delete(enclave)
    lent.delete(enclave)
    enclave.leave()
  }
  const give = (enclave: EnclaveProcess, member: Member) => {
    lent.get(enclave)?.delete(member)
    settle(enclave)
  }

  return {
    lend(enclave, member) {
      const holders = lent.get(enclave) ?? new Set()
      lent.set(enclave, holders.add(member))
      void member.ended.then(() => give(enclave, member))
    },
    back(socket, member) {
      for (const enclave of lent.keys()) if (enclave.socket === socket) give(enclave, member)
    },
    retire(enclave) {
      retired.add(enclave)
      settle(enclave)
    },
  }
}
