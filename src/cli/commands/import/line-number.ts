/** Where in the input something stands. */
export interface Place {
  readonly line: number;
  /** Which element of a JSON array, counted from 1: a whole array may stand in one line. */
  readonly item?: number;
}

export const placeWords = ({ line, item }: Place): string => (item === undefined ? `line ${line}` : `item ${item}`);

/** The place alone. */
export const placeOf = ({ line, item }: Place): Place => (item === undefined ? { line } : { line, item });
