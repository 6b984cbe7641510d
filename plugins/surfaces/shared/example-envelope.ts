/** The envelope of an answer in an example, without its content. */
export const exampleEnvelope = {
  status: 200,
  error: null,
  message: null,
  env: 'production',
  log: { request_id: '01a1fc7c-78dd-71b9-a66b-ea0f67dc77a8' },
  validator: null,
  support_id: '01a1fc7c-78dd-71b9-a66b-ea0f67dc77a8',
}
