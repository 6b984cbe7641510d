/** What a caller's credential at a vendor is called beside a call: doors give it, and providers take it. */
export const callerKey = 'caller-key'
