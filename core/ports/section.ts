import * as v from 'valibot'

/** A member of the settings that belongs to a plugin. */
export interface Section<S extends v.GenericSchema = v.GenericSchema> {
  readonly name: string
  readonly shape: S
  /** Where the section has rows among the models: the member by which a row is known, and the shape of one. */
  readonly row?: { readonly member: string; readonly shape: v.GenericSchema }
  /** Members that it has in each model, beside those of the core. */
  readonly members?: v.ObjectEntries
  /** Paths that a gateway keeps for as long as it runs. */
  readonly fixed?: readonly string[]
  /** Names of models by their paths. A name that no model has stops the start: every request that rests on it would fail. */
  models?(own: v.InferOutput<S>): readonly (readonly [path: string, model: string | undefined])[]
  /** The plugin's own settings, by default where a gateway has none. */
  of(settings: object): v.InferOutput<S>
}

/** What plugins take, by the names of their sections: the file of a section declares its own member. */
export interface SectionInputs {}

/** What stands among the models and is none, by the names of sections. */
export interface RowInputs {}

/** What plugins take of each model: the file of a section declares its own members. */
export interface MemberInputs {}

/** Declares a section. Its plugin names it in `sections`, and the settings of a gateway with that plugin have it. */
export const section = <S extends v.GenericSchema>(
  name: string,
  shape: S,
  more: Pick<Section<S>, 'row' | 'members' | 'fixed' | 'models'> = {},
): Section<S> => ({
  ...{ name, shape, ...more },
  of: (settings) =>
    (settings as Readonly<Record<string, unknown>>)[name] ?? (v.parse(shape, undefined) as v.InferOutput<S>),
})
