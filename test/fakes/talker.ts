/** Stands for a parser that answers with more than anybody may read. */
export default (size: number): Uint8Array => new Uint8Array(size)
