/** What was logged, as JSON without its ids: they are hex, in which words and digits may stand by chance. */
export const withoutIds = (logged: unknown): string =>
  JSON.stringify(logged).replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}/g, 'id')
