import type * as v from 'valibot'

/** As much of a schema as is needed to follow a configuration along its shape. */
export type Shape = v.GenericSchema & {
  readonly wrapped?: Shape
  readonly item?: Shape
  readonly key?: Shape
  readonly value?: Shape
  readonly options?: readonly unknown[]
  readonly pipe?: readonly Shape[]
  readonly entries?: Readonly<Record<string, Shape>>
}

/** The schema of a value that is there: without what lets it be absent or null. */
export const bareShape = (shape: Shape): Shape => (shape.wrapped === undefined ? shape : bareShape(shape.wrapped))
