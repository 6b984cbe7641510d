/** What a plugin outside this repository is written with: the entry `sealgate/plugin`. */
export { type AnyPlugin, type Plugin, WrongSettings, flaw, isPlugin, plugin, use } from '../../core/plugin.ts'
export { type Facts, type FailedFacts, type Flaw, type TooManyFacts, type Validator } from '../../core/errors.ts'
export { Aborted, BadRequest, Conflict, Expired, Forbidden, GatewayError, HttpAlone } from '../../core/errors.ts'
export { NotFound, Overdue, TooLarge, TooMany, Unauthorized, Unavailable, Unconfigured } from '../../core/errors.ts'
export { Unreadable, UpstreamFailed } from '../../core/errors.ts'
export { type CostOf, type ModelResult, type ModelWork, runForTool } from './run-for-tool.ts'
export { workNeeds } from './work-needs.ts'
