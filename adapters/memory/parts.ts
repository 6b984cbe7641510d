import type { Fitting } from '../../core/container.ts'
import { use } from '../../core/plugin.ts'
import { issuerKeys } from '../../plugins/credentials/oidc/issuer-keys.ts'
import { loginCodes } from '../../plugins/credentials/oidc/login-codes.ts'
import { loginCredentials, logins } from '../../plugins/credentials/oidc/logins.ts'
import { chatGuards } from '../../plugins/guards/shared/chat-guards.ts'
import { budgetWebhook } from '../../plugins/observers/budget-webhook/budget-webhook.ts'
import { live, liveObserver } from '../../plugins/observers/live/live.ts'
import { spans } from '../../plugins/observers/opentelemetry/spans.ts'
import { loggingObserver, metrics, requestMetrics } from '../../plugins/observers/prometheus/metrics.ts'
import { proofMetrics } from '../../plugins/observers/prometheus/proof-metrics.ts'
import { usageMetrics } from '../../plugins/observers/prometheus/usage-metrics.ts'
import { traffic, trafficObserver } from '../../plugins/observers/traffic/traffic.ts'
import { shippedList } from '../../plugins/providers/shared/shipped-list.ts'
import { fileStore } from '../../plugins/sealed/files/file-store.ts'
import { indexing } from '../../plugins/sealed/files/indexing.ts'
import { sweep, sweepStart } from '../../plugins/sealed/files/sweep.ts'
import { receiptLog } from '../../plugins/sealed/log/receipt-log.ts'
import { keepsakes } from '../../plugins/shared/dialects/keepsakes.ts'
import { modelRules } from '../../plugins/shared/rules/rules.ts'
import { backendAnswers, backends } from '../../plugins/surfaces/admin/backends.ts'
import { withoutConfiguration, withoutDrill } from '../../plugins/surfaces/admin/left-out-adapters.ts'
import { storedTeams, teamsOfCallers } from '../../plugins/surfaces/admin/teams.ts'
import { backendRecords, recordingObserver } from '../../plugins/surfaces/admin/records.ts'
import { consoleSessions, sessionCredentials } from '../../plugins/surfaces/console/console-sessions.ts'
import { describedGateway } from '../../plugins/surfaces/docs/described-gateway.ts'
import { mcpServers } from '../../plugins/surfaces/mcp/servers.ts'
import { sealedRoutes } from '../../plugins/surfaces/rvenc/sealed-inference.ts'
import { streams } from '../../plugins/surfaces/shared/sealed-streams.ts'
import { ledger } from '../../plugins/usage/ledger.ts'
import { quotas } from '../../plugins/usage/quotas.ts'
import { usageSums } from '../../plugins/usage/usage-sums.ts'
import { withoutJournal } from '../../plugins/usage/without-journal.ts'

const keys = sealedRoutes.filter(({ method }) => method === 'GET')

/** What a gateway can do beyond its core. Each part may be left out: routes that need it go with it. */
export const parts: readonly Fitting<unknown>[] = [
  use(describedGateway(keys)),
  ...[use(storedTeams), use(teamsOfCallers)],
  ...[use(consoleSessions), use(sessionCredentials)],
  ...[use(issuerKeys), use(logins), use(loginCredentials), use(loginCodes)],
  ...[use(keepsakes), use(modelRules)],
  use(chatGuards),
  ...[use(metrics), use(requestMetrics), use(loggingObserver), use(usageMetrics)],
  ...[use(budgetWebhook), use(proofMetrics), use(spans)],
  ...[use(live), use(liveObserver)],
  ...[use(traffic), use(trafficObserver)],
  ...[use(backendRecords), use(recordingObserver), use(backends), use(backendAnswers)],
  ...[use(withoutJournal), use(ledger), use(usageSums), use(quotas), use(shippedList)],
  ...[use(fileStore), use(indexing), use(sweep), use(sweepStart), use(receiptLog)],
  use(streams),
  use(mcpServers),
  ...[use(withoutDrill), use(withoutConfiguration)],
]
