/** The version of the interface, as its description and its protocols tell it. */
export const interfaceVersion = '1.0.0'
