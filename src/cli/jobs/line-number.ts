/** Where a row or its result is in the input. */
export interface Position {
  /** Counted from 1. */
  readonly line: number;
  /** Which element of a JSON array, counted from 1: a whole array may be on one line. */
  readonly item?: number;
}

/** `line 7`, or `item 7` of an array. */
export const positionText = ({ line, item }: Position): string =>
  item === undefined ? `line ${line}` : `item ${item}`;
