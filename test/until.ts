export { until } from '../adapters/drill/until.ts'
