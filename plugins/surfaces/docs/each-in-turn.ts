import { freeTurn } from '../../../core/dialects/loop-time.ts'

/** Makes something of each item, one in a turn of the loop. */
export const eachInTurn = <Item, Made>(items: readonly Item[], make: (item: Item) => Made): Promise<Made[]> =>
  Promise.all(items.map((item) => freeTurn().then(() => make(item))))
