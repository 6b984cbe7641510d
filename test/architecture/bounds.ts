/** The most lines of each room. A room that grows fails; lower its bound when it shrinks. */
export const mostLines: Readonly<Record<string, number>> = {
  'adapters/drill': 1412,
  'adapters/local': 3388,
  'adapters/memory': 918,
  'adapters/production': 12039,
  core: 1409,
  'core/access': 681,
  'core/dialects': 1167,
  'core/generations': 390,
  'core/http': 3622,
  'core/inference': 2225,
  'core/ports': 2515,
  'plugins/backend-evidence': 366,
  'plugins/credentials': 907,
  'plugins/evidence': 176,
  'plugins/guards': 725,
  'plugins/observers': 1786,
  'plugins/providers': 9174,
  'plugins/readers': 7237,
  'plugins/sealed': 150,
  'plugins/sealed/client': 3097,
  'plugins/sealed/ehbp': 218,
  'plugins/sealed/enclave': 3190,
  'plugins/sealed/evidence': 4313,
  'plugins/sealed/files': 1316,
  'plugins/sealed/log': 421,
  'plugins/sealed/retrieval': 1654,
  'plugins/sealed/wire': 1393,
  'plugins/shared': 13338,
  'plugins/storage': 2766,
  'plugins/surfaces': 315,
  'plugins/surfaces/admin': 2629,
  'plugins/surfaces/batches': 1538,
  'plugins/surfaces/chat': 76,
  'plugins/surfaces/console': 11224,
  'plugins/surfaces/decision': 766,
  'plugins/surfaces/docs': 1485,
  'plugins/surfaces/ehbp': 189,
  'plugins/surfaces/files': 273,
  'plugins/surfaces/gemini': 407,
  'plugins/surfaces/index': 127,
  'plugins/surfaces/mcp': 1602,
  'plugins/surfaces/rvenc': 460,
  'plugins/surfaces/shared': 3719,
  'plugins/surfaces/tools': 264,
  'plugins/surfaces/v1': 1486,
  'plugins/tools': 6866,
  'plugins/usage': 3119,
}

/** Lines of all rooms of core. This bound never rises. */
export const mostOfCore = 11_944

/** Files at the root of core. */
export const mostRootFiles = 13

/** Words of features and of their doors, which core never names. */
export const featureWords = [
  ...['console', 'mcp', 'drill', 'oidc', 'receipt', 'batch', 'rerank', 'moderation', 'web-?socket', 'escalat'],
  ...['calibrat', 'redact', 'subscription', 'caller-?key', '\\bauto\\b', 'end[- ]?user', 'dashboard', 'grafana'],
  ...['advice', 'opentelemetry', 'gen_ai\\b', 'embedContent', 'responses/input', 'price_config'],
]
