/** Whether `npm run night` asks for all scenes and cases, where `npm test` plays a stated sample of them. */
export const isWhole = process.env['SEALGATE_WHOLE'] === '1'
