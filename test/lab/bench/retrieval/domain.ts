/** One thing that documents tell, in words that share as little as possible with those it is asked for in. */
export interface Fact {
  readonly heading: string
  /** {name} is whom it is about; {person}, {number}, {money}, {time}, {day}, {month}, {year} and {percent} are drawn. */
  readonly told: readonly string[]
  /** A question in the words of the document. */
  readonly literal: string
  /** Questions in other words. */
  readonly asked: readonly string[]
}

export interface Domain {
  readonly titles: readonly [string, string]
  /** Every entity of the domain has one of each, so that a question must say whom it means. */
  readonly shared: readonly Fact[]
  /** Stands in one document of all, so that a question says no name. */
  readonly single: readonly Fact[]
  /** What stands around the facts and answers nothing. */
  readonly around: readonly string[]
}
