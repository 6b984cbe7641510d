/** The most lines of each room. A room that grows fails; lower its bound when it shrinks. */
export const mostLines: Readonly<Record<string, number>> = {
  'adapters/drill': 1421,
  'adapters/local': 3419,
  'adapters/memory': 905,
  'adapters/production': 12042,
  core: 1412,
  'core/access': 695,
  'core/dialects': 1211,
  'core/generations': 391,
  'core/http': 3589,
  'core/inference': 2246,
  'core/ports': 2518,
  'plugins/backend-evidence': 372,
  'plugins/credentials': 920,
  'plugins/evidence': 176,
  'plugins/guards': 725,
  'plugins/observers': 1793,
  'plugins/providers': 9169,
  'plugins/readers': 7241,
  'plugins/sealed': 150,
  'plugins/sealed/client': 3117,
  'plugins/sealed/ehbp': 223,
  'plugins/sealed/enclave': 3189,
  'plugins/sealed/evidence': 4328,
  'plugins/sealed/files': 1317,
  'plugins/sealed/log': 419,
  'plugins/sealed/retrieval': 1654,
  'plugins/sealed/wire': 1402,
  'plugins/shared': 13212,
  'plugins/storage': 2778,
  'plugins/surfaces': 316,
  'plugins/surfaces/admin': 2652,
  'plugins/surfaces/batches': 1545,
  'plugins/surfaces/chat': 77,
  'plugins/surfaces/console': 11323,
  'plugins/surfaces/decision': 770,
  'plugins/surfaces/docs': 1487,
  'plugins/surfaces/ehbp': 191,
  'plugins/surfaces/files': 275,
  'plugins/surfaces/gemini': 414,
  'plugins/surfaces/index': 127,
  'plugins/surfaces/mcp': 1599,
  'plugins/surfaces/rvenc': 462,
  'plugins/surfaces/shared': 3746,
  'plugins/surfaces/tools': 266,
  'plugins/surfaces/v1': 1486,
  'plugins/tools': 6879,
  'plugins/usage': 3102,
}

/** Lines of all rooms of core. This bound never rises. */
export const mostOfCore = 11_966

/** Files at the root of core. */
export const mostRootFiles = 13

/** Words of features and of their doors, which core never names. */
export const featureWords = [
  ...['console', 'mcp', 'drill', 'oidc', 'receipt', 'batch', 'rerank', 'moderation', 'web-?socket', 'escalat'],
  ...['calibrat', 'redact', 'subscription', 'caller-?key', '\\bauto\\b', 'end[- ]?user', 'dashboard', 'grafana'],
  ...['advice', 'opentelemetry', 'gen_ai\\b', 'embedContent', 'responses/input', 'price_config'],
]
