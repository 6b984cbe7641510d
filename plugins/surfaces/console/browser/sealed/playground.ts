import type { Client } from '../../../../sealed/client/client.ts'
import { SealgateError } from '../../../../sealed/client/error.ts'
import type { Policy } from '../../../../sealed/client/verify.ts'
import { type Child, freshId, div } from '../element.ts'
import type { View } from '../page.ts'
import { heading, note, section, stack, select } from '../parts.ts'
import { type Listed, modelsOf } from '../sight.ts'
import { attackPane } from './attack-pane.ts'
import type { Target } from './attacks.ts'
import { type Attested, attestedIn } from './attestations.ts'
import { chatPane } from './chat-pane.ts'
import { RefusedHere, labelled } from './doing.ts'
import { filePane } from './file-pane.ts'
import { playgroundClient } from './playground-client.ts'
import { isPolicyError, policyPane } from './policy-pane.ts'
import { proofPane } from './proof-pane.ts'
import { requestedPath } from './requested-path.ts'
import { toolPane } from './tool-pane.ts'
import { vouchingPane } from './vouching-pane.ts'
import { wirePane } from './wire-pane.ts'
import { type Exchange, watchedFetch } from './wire-watch.ts'

/** What passed between this tab and the gateway that the proof is about. */
const proofSeen = () => {
  let attested: Attested | null = null
  let lists: unknown = null
  return {
    attested: () => attested,
    lists: () => lists,
    saw(exchange: Exchange): void {
      attested = attestedIn(exchange, Date.now()) ?? attested
      if (requestedPath(exchange.path).pathname === '/rvenc/releases' && exchange.status === 200)
        lists = JSON.parse(exchange.text)
    },
  }
}

const modelChoice = (listed: readonly Listed[]): { readonly node: HTMLElement; chosen(): string } => {
  const id = freshId('model')
  const choice = select(
    { id },
    listed.map(({ model }) => [model, model]),
  )
  const node =
    listed.length === 0
      ? note('No model is served sealed to this key, so only files and tools can be tried.')
      : labelled('Model', id, choice)
  return { node: section('Ask', node), chosen: () => choice.value }
}

/** Renews the client and the proof whenever the reader demands something else. */
const proving = (view: View, saw: (exchange: Exchange) => void) => {
  const { gateway, own, signal } = view
  const seen = proofSeen()
  const proof = proofPane()
  const fetch = watchedFetch(gateway, (exchange) => {
    seen.saw(exchange)
    saw(exchange)
  })
  let policy: Policy = {}
  /** Null while the demands of the reader cannot be read. */
  let client: Client | null = playgroundClient({ gateway, policy, fetch })
  let proofs = 0
  const prove = async (): Promise<void> => {
    const own = ++proofs
    const isOver = (): boolean => signal.aborted || own !== proofs
    proof.waits()
    client = null
    try {
      policy = demanded.policy()
      client = playgroundClient({ gateway, policy, fetch })
      const verified = await client.verify()
      if (!isOver()) proof.verified(verified, seen.attested())
    } catch (error) {
      if (isOver()) return
      if (error instanceof SealgateError) proof.refused(error, seen.attested())
      else proof.misled(isPolicyError(error) ? error.message : 'The proof could not be read.')
    }
  }
  const demanded = policyPane(own, () => void prove())
  const proven = (): Client => {
    if (client === null) throw new RefusedHere('The policy cannot be used: nothing is sent')
    return client
  }
  return { proof, demanded, seen, prove, client: proven, policy: () => policy }
}

/** Chat, file and tool on the left; on the right the proof as it happens. */
export const playground = async (view: View): Promise<Child> => {
  const { gateway, sight, own, signal } = view
  const wire = wirePane()
  const { proof, demanded, seen, prove, client, policy } = proving(view, wire.saw)
  const [listed, tools] = await Promise.all([
    modelsOf(gateway, sight),
    sight.links['tools'] === undefined ? Promise.resolve([]) : client().tools.list(),
  ])
  const models = modelChoice(listed.filter(({ sealed }) => sealed))
  let fileId: string | null = null
  const doings = { client, witness: wire, signal }
  const target = (): Target | null =>
    models.chosen() === '' ? null : { gateway, model: models.chosen(), policy: policy() }
  void prove()
  return [
    heading('Sealed playground'),
    div(
      'sides',
      stack(
        models.node,
        chatPane({ ...doings, model: models.chosen }),
        filePane({ ...doings, kept: (id) => void (fileId = id) }),
        toolPane(tools, { ...doings, fileId: () => fileId }),
      ),
      stack(
        demanded.node,
        proof.node,
        wire.node,
        attackPane(target, signal),
        vouchingPane(own, gateway.base, seen.attested, seen.lists),
      ),
    ),
    note('Prompts, answers and files of the playground stand in this tab alone, and go with it.'),
  ]
}
