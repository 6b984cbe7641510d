interface Meaning {
  readonly status: number
  readonly sentence: string
}

/** The meaning of an enclave's codes for the programs of this machine. */
export const codes: Readonly<Record<string, Meaning | undefined>> = {
  sealed_elsewhere: { status: 400, sentence: 'The enclave takes this request on another route' },
  invalid_parameters: { status: 400, sentence: 'A parameter of the request is not valid' },
  refused: { status: 400, sentence: 'The backend refused the request' },
  unknown_model: { status: 404, sentence: 'The model does not exist, or the key may not use it sealed' },
  unknown_tool: { status: 404, sentence: 'The enclave has no such tool' },
  unknown_file: { status: 404, sentence: 'The file does not exist' },
  unreadable_file: { status: 400, sentence: 'The file could not be read' },
  not_configured: { status: 400, sentence: 'The enclave is not set up for this request' },
  too_large: { status: 400, sentence: 'The result is too large' },
  context_length_exceeded: { status: 400, sentence: 'The prompt is too long for the context of the model' },
  content_filter: { status: 400, sentence: 'The backend filtered the request' },
  unsupported_parameter: { status: 400, sentence: 'The model does not support a parameter of the request' },
  invalid_image: { status: 400, sentence: 'An image of the request is not valid' },
  request_too_large: { status: 413, sentence: 'The request is too large for the backend' },
  model_not_found: { status: 404, sentence: 'The backend does not have the model' },
  insufficient_quota: { status: 429, sentence: 'The quota of the backend is used up' },
  guard_refused: { status: 400, sentence: 'A guard of the enclave refuses the call' },
  busy: { status: 429, sentence: 'The enclave is busy; try again later' },
  backend_unverified: { status: 502, sentence: 'The backend of the enclave could not be verified' },
  upstream_failed: { status: 502, sentence: 'The backend of the enclave failed' },
  unavailable: { status: 503, sentence: 'The enclave is temporarily unavailable' },
}
